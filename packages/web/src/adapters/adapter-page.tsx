import { type Adapter, servedText } from "@imprint/contracts";
import { useCallback, useMemo } from "react";
import { api } from "../api.js";
import { EvaluationCard } from "../evaluation/evaluation-card.js";
import { ProofCard } from "../job/proof-card.js";
import { useAction } from "../load/use-action.js";
import { useLoad } from "../load/use-load.js";
import { hrefOf } from "../router/route.js";
import { goTo } from "../router/use-route.js";
import { TasksCard } from "../tasks/tasks-card.js";
import { ago, bytes } from "../text/numbers.js";
import { Card } from "../ui/card.js";
import { Confirmed } from "../ui/confirmed.js";
import { Facts } from "../ui/facts.js";
import { Page } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { Table } from "../ui/table.js";
import { Condition } from "./chips.js";
import { fetchRecord } from "./fetch-record.js";
import { LossPlot } from "./loss-plot.js";
import { runsOf } from "./runs.js";
import { UseIt } from "./use-it.js";

function Lineage({ adapter }: { readonly adapter: Adapter }) {
  return (
    <Card title="Lineage">
      <Facts
        facts={[
          ["Base model", adapter.base_model],
          [
            "Sessions",
            <span key="sessions" className="chips">
              {adapter.session_ids.map((id) => (
                <a key={id} className="mono" href={hrefOf(["sessions", id])}>
                  {id}
                </a>
              ))}
            </span>,
          ],
          [
            "Job",
            <a key="job" className="mono" href={hrefOf(["jobs", adapter.job_id])}>
              {adapter.job_id}
            </a>,
          ],
          ["Method", adapter.method],
          ["Rank, alpha", `${adapter.rank}, ${adapter.alpha}`],
          ["Task type", adapter.task_type],
          ...(adapter.served === null
            ? []
            : [["Served by", `${servedText(adapter.served)}, measured ${ago(adapter.served.measured_at, Date.now())}`] as const]),
          ["Created", ago(adapter.created_at, Date.now())],
          ["Folder", <code key="path">{adapter.path}</code>],
          ["SHA-256", <code key="sha">{adapter.sha256}</code>],
          ...Object.entries(adapter.metadata).map(([name, value]) => [`Note: ${name}`, value] as const),
        ]}
      />
    </Card>
  );
}

function Files({ adapter: { adapter_id: id, files } }: { readonly adapter: Adapter }) {
  return (
    <Card title="Files">
      <Table label="Files" head={["Name", "Size", "SHA-256"]}>
        {files.map((file) => (
          <tr key={file.name}>
            <td>
              <a
                className="mono"
                href={`adapters/${encodeURIComponent(id)}/files/${encodeURIComponent(file.name)}`}
                download={file.name}
              >
                {file.name}
              </a>
            </td>
            <td className="number nowrap">{bytes(file.size)}</td>
            <td className="mono muted clip">{file.sha256}</td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}

/** A registered adapter: where it comes from, what it proved, and its files. */
export function AdapterPage({ adapterId }: { readonly adapterId: string }) {
  const { value: adapter, error, reload } = useLoad(adapterId, (signal) => api.adapters.get(adapterId, { signal }));
  const { value: record } = useLoad(`record ${adapter?.sha256}`, async (signal) => adapter && fetchRecord(adapter, signal));
  const runs = useMemo(() => (record?.losses ? runsOf(adapterId, record.losses, record.heldOutLosses) : []), [adapterId, record]);
  const verify = useAction(
    useCallback(async () => {
      await api.adapters.verify(adapterId);
      reload();
    }, [adapterId, reload]),
  );
  const remove = useCallback(async () => {
    await api.adapters.delete(adapterId);
    goTo(hrefOf(["adapters"]));
  }, [adapterId]);
  const actions = adapter && (
    <>
      <Condition adapter={adapter} />
      <button type="button" disabled={verify.isBusy} onClick={() => void verify.run()}>
        Verify the files
      </button>
      <a className="button primary" href={hrefOf(["playground"], { adapter: adapterId })}>
        Try it
      </a>
      <Confirmed label="Delete" question={`Delete ${adapterId}?`} confirm="Delete the adapter" act={remove}>
        Nobody can use it any more. Its files stay in the service's data directory, and its sessions are untouched.
      </Confirmed>
    </>
  );
  return (
    <Page title={adapterId} actions={actions}>
      <Problem error={error ?? verify.error} />
      {adapter && (
        <>
          <TasksCard adapter={adapter} />
          <EvaluationCard adapter={adapter} heldOut={record?.heldOut ?? []} onEvaluated={reload} />
          <ProofCard proof={adapter.proof} />
          <UseIt name={adapterId} />
          {runs.length > 0 && <LossPlot runs={runs} />}
          <div className="columns">
            <Lineage adapter={adapter} />
            <Files adapter={adapter} />
          </div>
        </>
      )}
    </Page>
  );
}
