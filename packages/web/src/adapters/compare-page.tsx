import { type Adapter, change } from "@imprint/contracts";
import { useMemo } from "react";
import { api } from "../api.js";
import { useLoad } from "../load/use-load.js";
import { hrefOf } from "../router/route.js";
import { bytes, short, words } from "../text/numbers.js";
import { Page } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { Table } from "../ui/table.js";
import { fetchRecord } from "./fetch-record.js";
import { LossPlot } from "./loss-plot.js";
import { runsOf } from "./runs.js";

interface Run {
  readonly adapter: Adapter;
  readonly losses: readonly number[] | null;
}

const ROWS: readonly (readonly [name: string, value: (run: Run) => string])[] = [
  ["Method", ({ adapter }) => adapter.method],
  ["Base model", ({ adapter }) => adapter.base_model],
  ["Sessions", ({ adapter }) => adapter.session_ids.join(", ")],
  ["Rank, alpha", ({ adapter }) => `${adapter.rank}, ${adapter.alpha}`],
  ["Steps", ({ losses }) => (losses === null ? "none recorded" : String(losses.length))],
  ["Verdict", ({ adapter }) => words(adapter.verdict)],
  ["Unseen sessions", ({ adapter: { evaluation } }) => (evaluation ? words(evaluation.verdict) : "not evaluated")],
  ["Loss on the session", ({ adapter: { proof } }) => `${short(proof.loss_before)} → ${short(proof.loss_after)}`],
  ["Neutral text", ({ adapter: { proof } }) => change(proof.neutral_loss_before, proof.neutral_loss_after)],
  ["Norm of the update", ({ adapter }) => short(adapter.proof.update_norm)],
  ["Size", ({ adapter }) => bytes(adapter.size)],
];

/** The curves and numbers of two adapters, from what is on disk: it does not matter whether their jobs are still known. */
export function ComparePage({ ids }: { readonly ids: readonly string[] }) {
  const { value, error } = useLoad(ids.join(" "), (signal) =>
    Promise.all(
      ids.map(async (id): Promise<Run> => {
        const adapter = await api.adapters.get(id, { signal });
        const { losses } = await fetchRecord(adapter, signal);
        return { adapter, losses };
      }),
    ),
  );
  const curves = useMemo(
    () => (value ?? []).flatMap(({ adapter, losses }) => (losses ? runsOf(adapter.adapter_id, losses, []) : [])),
    [value],
  );
  return (
    <Page title="Compare">
      <Problem error={error} />
      {curves.length > 0 && <LossPlot runs={curves} />}
      {value && curves.length < value.length && (
        <p className="notice">An adapter that was made without training steps has no curve.</p>
      )}
      {value && (
        <Table label="Comparison" head={["Property", ...value.map(({ adapter }) => adapter.adapter_id)]}>
          <tr>
            <th scope="row">Adapter</th>
            {value.map(({ adapter: { adapter_id: id } }) => (
              <td key={id}>
                <a href={hrefOf(["adapters", id])}>open</a>
              </td>
            ))}
          </tr>
          {ROWS.map(([name, show]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {value.map((run) => (
                <td key={run.adapter.adapter_id}>{show(run)}</td>
              ))}
            </tr>
          ))}
        </Table>
      )}
    </Page>
  );
}
