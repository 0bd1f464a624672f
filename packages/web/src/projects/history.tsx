import { change, isRunning, type Project, type ProjectRun } from "@imprint/contracts";
import { hrefOf } from "../router/route.js";
import { ago, count } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { Table } from "../ui/table.js";
import { RunChip } from "./run-chip.js";

interface HistoryProps {
  readonly project: Project;
  readonly isBusy: boolean;
  readonly onRollback: (run: number) => void;
}

/** The job that a run waits for; jobs of runs that have ended may be forgotten. */
const jobOf = ({ status, train_job_id, evaluate_job_id }: ProjectRun): string | null =>
  status === "evaluating" ? evaluate_job_id : train_job_id;

function Outcome({ run }: { readonly run: ProjectRun }) {
  const job = jobOf(run);
  if (isRunning(run) && job !== null)
    return (
      <a className="mono" href={hrefOf(["jobs", job])}>
        its job
      </a>
    );
  if (run.error !== null) return <span className="clip">{plain(run.error.message)}</span>;
  if (run.figures === null) return null;
  const { base_loss: base, change: by, interval } = run.figures;
  return (
    <>
      {change(base, base + by)}
      {interval !== null && <span className="muted"> ({interval.map((end) => change(base, base + end)).join(" to ")})</span>}
    </>
  );
}

/** Every run with its verdict and figures; any whose adapter is there can be made the latest. */
export function History({ project: { latest, runs }, isBusy, onRollback }: HistoryProps) {
  return (
    <Table label="Runs" head={["Run", "Verdict", "Loss on held-out sessions", "Trained on", "Tested on", "When", "Latest"]}>
      {runs.map((run) => {
        const { run: number, adapter_id: id, sessions, evaluate_job_id: evaluation, created_at } = run;
        const isLatest = id === latest?.adapter_id;
        return (
          <tr key={number}>
            <td className="nowrap">
              {number} ·{" "}
              {evaluation === null ? (
                <span className="mono">{id}</span>
              ) : (
                <a className="mono" href={hrefOf(["adapters", id])}>
                  {id}
                </a>
              )}
            </td>
            <td className="nowrap">
              <RunChip run={run} />
            </td>
            <td>
              <Outcome run={run} />
            </td>
            <td className="nowrap">
              {count(sessions.new, "new session")}
              {sessions.replayed > 0 && <div className="muted">and {sessions.replayed} learned before</div>}
            </td>
            <td>
              <span className="chips">
                {sessions.held_out.map((one) => (
                  <a key={one} className="mono" href={hrefOf(["sessions", one])}>
                    {one}
                  </a>
                ))}
              </span>
            </td>
            <td className="muted nowrap">{ago(created_at, Date.now())}</td>
            <td className="nowrap">
              {isLatest ? (
                <b>latest</b>
              ) : (
                evaluation !== null &&
                !isRunning(run) && (
                  <button
                    type="button"
                    disabled={isBusy}
                    aria-label={`Make it the latest: ${id}`}
                    onClick={() => onRollback(number)}
                  >
                    Make it the latest
                  </button>
                )
              )}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}
