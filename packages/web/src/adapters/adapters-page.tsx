import { change } from "@imprint/contracts";
import { useState } from "react";
import { api } from "../api.js";
import { useLoad } from "../load/use-load.js";
import { hrefOf } from "../router/route.js";
import { goTo } from "../router/use-route.js";
import { ago, bytes, count } from "../text/numbers.js";
import { toneOf } from "../text/verdict.js";
import { Page } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { Table } from "../ui/table.js";
import { Condition, EvaluationChip, TasksChip } from "./chips.js";

const SHOWN = 1000;

/** Registered adapters; two of them can be ticked and compared. */
export function AdaptersPage() {
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const { value, error } = useLoad("adapters", (signal) => api.adapters.list({ limit: SHOWN }, { signal }));
  const tick = (id: string): void =>
    setTicked((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id].slice(-2)));
  const [a, b] = ticked;
  const actions = (
    <button type="button" disabled={b === undefined} onClick={() => goTo(hrefOf(["compare"], { a, b }))}>
      {b === undefined ? "Tick two to compare" : "Compare the two"}
    </button>
  );
  return (
    <Page title="Adapters" actions={value && value.adapters.length > 1 ? actions : null}>
      <Problem error={error} />
      {value && value.adapters.length > 0 && (
        <Table
          label="Adapters"
          head={["Compare", "Adapter", "Base model", "Session loss", "Size", "Health", "Tasks", "Unseen sessions", "Created"]}
        >
          {value.adapters.map((adapter) => {
            const { adapter_id: id, proof } = adapter;
            return (
              <tr key={id}>
                <td>
                  <input type="checkbox" aria-label={`Compare ${id}`} checked={ticked.includes(id)} onChange={() => tick(id)} />
                </td>
                <td>
                  <a className="mono" href={hrefOf(["adapters", id])}>
                    {id}
                  </a>
                  <div className="muted">
                    {adapter.method} · rank {adapter.rank} · {adapter.session_ids.join(", ")}
                  </div>
                </td>
                <td className="nowrap">{adapter.base_model}</td>
                <td className="nowrap">
                  <span className="chip" data-tone={toneOf(proof)}>
                    {change(proof.loss_before, proof.loss_after)}
                  </span>
                </td>
                <td className="number nowrap">{bytes(adapter.size)}</td>
                <td>
                  <Condition adapter={adapter} />
                </td>
                <td className="nowrap">
                  <TasksChip tasks={adapter.tasks} />
                </td>
                <td className="nowrap">
                  <EvaluationChip evaluation={adapter.evaluation} />
                </td>
                <td className="muted nowrap">{ago(adapter.created_at, Date.now())}</td>
              </tr>
            );
          })}
        </Table>
      )}
      {value?.adapters.length === 0 && <p className="empty">No adapters yet: a training that ends well leaves one.</p>}
      {value?.next && (
        <p className="muted">
          The newest {count(SHOWN, "adapter")} are shown; <code>imprint adapters --after {value.next}</code> lists the others.
        </p>
      )}
    </Page>
  );
}
