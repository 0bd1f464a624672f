import { type Adapter, change } from "@imprint/contracts";
import { type ReactNode, useMemo } from "react";
import { api } from "../api.js";
import { useLoad } from "../load/use-load.js";
import { hrefOf } from "../router/route.js";
import { bytes, short, words } from "../text/numbers.js";
import { Card } from "../ui/card.js";
import { Page, Remarks } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { Table } from "../ui/table.js";
import { fetchRecord } from "./fetch-record.js";
import { LossPlot } from "./loss-plot.js";
import { runsOf } from "./runs.js";

interface Run {
  readonly adapter: Adapter;
  readonly losses: readonly number[] | null;
}

const ROWS: readonly (readonly [name: string, value: (run: Run) => ReactNode])[] = [
  ["Adapter", ({ adapter }) => <a href={hrefOf(["adapters", adapter.adapter_id])}>open</a>],
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

const WITHOUT_STEPS = "An adapter that was made without training steps has no curve.";
const UNLIKE = "They are of other sessions or another base model: their losses are no comparison.";

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
  const isAlike = new Set(value?.map(({ adapter }) => `${adapter.base_model} ${adapter.session_ids.toSorted()}`)).size < 2;
  return (
    <Page title="Compare">
      <Problem error={error} />
      {isAlike && curves.length > 0 && <LossPlot runs={curves} />}
      {!isAlike &&
        curves.map((run) => (
          <Card key={run.label} title={run.label}>
            <LossPlot runs={[run]} />
          </Card>
        ))}
      <Remarks remarks={[isAlike ? [] : UNLIKE, curves.length < (value?.length ?? 0) ? WITHOUT_STEPS : []].flat()} />
      {value && (
        <Table label="Comparison" head={["Property", ...value.map(({ adapter }) => adapter.adapter_id)]}>
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
