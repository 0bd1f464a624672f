import { type AdapterSort, change } from "@imprint/contracts";
import { useState } from "react";
import { api } from "../api.js";
import { usePages } from "../load/use-pages.js";
import { hrefOf } from "../router/route.js";
import { goTo } from "../router/use-route.js";
import { ago, bytes } from "../text/numbers.js";
import { toneOf } from "../text/verdict.js";
import { Choice, Search } from "../ui/filters.js";
import { Page } from "../ui/page.js";
import { Pager } from "../ui/pager.js";
import { Problem } from "../ui/problem.js";
import { Table } from "../ui/table.js";
import { Condition, EvaluationChip, TasksChip } from "./chips.js";

const firstAndMore = ([first, ...others]: readonly string[]): string =>
  others.length === 0 ? (first ?? "") : `${first} and ${others.length} more`;

const SORTS: Readonly<Record<AdapterSort, string>> = {
  created: "Newest first",
  helps: "Most helpful first",
  tasks: "Most tasks solved first",
  size: "Largest first",
};

/** Registered adapters; two of them can be ticked and compared. */
export function AdaptersPage() {
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const [search, setSearch] = useState("");
  const [sort, setSort] = useState<AdapterSort>("created");
  const { value, error, filtering, older, newer } = usePages("adapters", (cursor, signal) =>
    api.adapters.list({ ...cursor, sort, ...(search !== "" && { search }) }, { signal }),
  );
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
      <div className="filters">
        <Search
          aria-label="Search adapters"
          hint="id, base model, kind of work or sessions"
          value={search}
          onChange={filtering(setSearch)}
        />
        <Choice
          aria-label="Sort"
          options={Object.entries(SORTS)}
          value={sort}
          onChange={filtering((name) => setSort(name as AdapterSort))}
        />
      </div>
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
                    {adapter.method} · rank {adapter.rank} · {firstAndMore(adapter.session_ids)}
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
      {value?.adapters.length === 0 && (
        <p className="empty">
          {search === "" ? "No adapters yet: a training that ends well leaves one." : "No adapter has these words."}
        </p>
      )}
      <Pager older={older} newer={newer} />
    </Page>
  );
}
