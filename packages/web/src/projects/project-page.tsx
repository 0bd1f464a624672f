import { isRunning, latestOf, type Project, type ProjectRun } from "@imprint/contracts";
import { useCallback, useState } from "react";
import { UseIt } from "../adapters/use-it.js";
import { api } from "../api.js";
import { useProject } from "../live/use-project.js";
import { useAction } from "../load/use-action.js";
import { type Interval, Intervals } from "../plot/intervals.js";
import { hrefOf } from "../router/route.js";
import { goTo } from "../router/use-route.js";
import { intervalText, meaningOf, signed } from "../text/evaluation.js";
import { ago, count, words } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { EVALUATION_TONES } from "../text/verdict.js";
import { Card } from "../ui/card.js";
import { Confirmed } from "../ui/confirmed.js";
import { ConnectionState } from "../ui/connection.js";
import { Facts } from "../ui/facts.js";
import { Page } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { History } from "./history.js";

/** More lines are no plot any more; the history has all. */
const SHOWN = 30;

const intervalOf = ({ run, adapter_id: id, figures }: ProjectRun): readonly Interval[] => {
  if (figures === null) return [];
  const { change, interval } = figures;
  const text = interval === null ? signed(change) : `${signed(change)} (${intervalText(interval)}): ${meaningOf(interval)}`;
  return [{ label: `Run ${run}, ${id}`, value: change, interval: interval ?? [change, change], text }];
};

/** How far each run's adapter was from the base model on the sessions that were held out then, the first run first. */
function Verdicts({ runs }: { readonly runs: readonly ProjectRun[] }) {
  const rows = runs.flatMap(intervalOf).slice(0, SHOWN).toReversed();
  if (rows.length === 0) return null;
  return (
    <Intervals
      title="Change of the loss on held-out sessions, run by run, nats per token, with its 95 % interval"
      rows={rows}
      sides={["better than the base model", "worse"]}
    />
  );
}

function Latest({
  project: { name, latest, runs, base_model: base, sessions, folders, settings },
}: {
  readonly project: Project;
}) {
  const run = runs.find(({ adapter_id }) => adapter_id === latest?.adapter_id);
  const tone = run?.verdict ? EVALUATION_TONES[run.verdict] : undefined;
  return (
    <Card title={latest === null ? "No adapter yet" : `Latest: ${latest.adapter_id}`} tone={tone}>
      {run?.sentence && <p className="verdict">{run.sentence}</p>}
      <Facts
        facts={[
          [
            "Adapter",
            latest && (
              <a key="adapter" className="mono" href={hrefOf(["adapters", latest.adapter_id])}>
                {latest.adapter_id}
              </a>
            ),
          ],
          ["Asked for as", latest && <code key="name">{latestOf(name)}</code>],
          ["Since", latest && ago(latest.moved_at, Date.now())],
          ["Base model", base],
          ["Sessions", count(sessions, "session")],
          ["From", folders.map(plain).join(", ")],
          ...Object.entries(settings).map(([setting, value]) => [words(setting), String(value)] as const),
        ]}
      />
    </Card>
  );
}

/** A project: the adapter that it stands by, what each run has proved, and the way back. */
export function ProjectPage({ name }: { readonly name: string }) {
  const { project, connection, refused } = useProject(name);
  const [said, setSaid] = useState<string | null>(null);
  const run = useAction(
    useCallback(async () => {
      setSaid(null);
      setSaid((await api.projects.run(name)).sentence);
    }, [name]),
  );
  const rollback = useAction(
    useCallback(
      async (number: number) => {
        setSaid(null);
        const { latest } = await api.projects.rollback(name, { run: number });
        setSaid(`${latestOf(name)} is ${latest?.adapter_id} now.`);
      },
      [name],
    ),
  );
  const remove = useCallback(async () => {
    await api.projects.delete(name);
    goTo(hrefOf(["projects"]));
  }, [name]);
  const isActive = project?.runs.some(isRunning) ?? false;
  const actions = project && (
    <>
      <ConnectionState connection={connection} />
      {project.latest && (
        <a className="button" href={hrefOf(["playground"], { adapter: project.latest.adapter_id })}>
          Try it
        </a>
      )}
      <button type="button" className="primary" disabled={run.isBusy || isActive} onClick={() => void run.run()}>
        {isActive ? "A run goes on" : "Train on what is new"}
      </button>
      <Confirmed
        label="Delete"
        question={`Delete the project ${name}?`}
        confirm="Delete the project"
        isDisabled={isActive}
        act={remove}
      >
        Its runs and the name {latestOf(name)} go: whoever asks for that name is refused. Its sessions and adapters stay.
      </Confirmed>
    </>
  );
  return (
    <Page title={name} actions={actions}>
      <Problem error={refused ?? run.error ?? rollback.error} />
      {said !== null && <p role="status">{said}</p>}
      {project && (
        <>
          <Latest project={project} />
          {project.latest && <UseIt name={latestOf(name)} />}
          <Verdicts runs={project.runs} />
          <Card title="Runs">
            {project.runs.length === 0 ? (
              <p className="empty">No run yet: it begins with the second session.</p>
            ) : (
              <History project={project} isBusy={rollback.isBusy} onRollback={(number) => void rollback.run(number)} />
            )}
          </Card>
        </>
      )}
    </Page>
  );
}
