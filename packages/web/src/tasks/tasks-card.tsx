import type { Adapter, TaskReport, TaskRun } from "@imprint/contracts";
import { TasksChip } from "../adapters/chips.js";
import { useTasks } from "../live/use-tasks.js";
import { hrefOf } from "../router/route.js";
import { count, duration, words } from "../text/numbers.js";
import { OUTCOME_TONES, solvedText, TASK_ROW_NAMES, TASK_TONES } from "../text/tasks.js";
import { Card } from "../ui/card.js";
import { Problem } from "../ui/problem.js";
import { Table } from "../ui/table.js";

/** How one run went, and the way to its conversation. */
function Outcome({ run }: { readonly run: TaskRun }) {
  const { outcome, detail, turns, seconds, session_id: id } = run;
  const shown = { className: "chip", "data-tone": OUTCOME_TONES[outcome], children: words(outcome) };
  const title = [detail, count(turns, "turn"), duration(seconds)].filter((part) => part !== null).join(", ");
  return id === null ? <span {...shown} title={title} /> : <a {...shown} title={title} href={hrefOf(["sessions", id])} />;
}

/** Tasks by rows; below them what each row solved. */
function Grid({ report: { tasks, rows, runs } }: { readonly report: TaskReport }) {
  return (
    <Table label="Tasks by rows" head={["Task", ...rows.map(({ row }) => TASK_ROW_NAMES[row])]}>
      {tasks.map(({ name, prompt }) => (
        <tr key={name}>
          <th scope="row" title={prompt}>
            {name}
          </th>
          {rows.map(({ row }) => {
            const own = runs.filter((run) => run.task === name && run.row === row);
            return <td key={row}>{own.length === 0 ? "–" : own.map((run) => <Outcome key={run.seed} run={run} />)}</td>;
          })}
        </tr>
      ))}
      <tr>
        <th scope="row">Solved</th>
        {rows.map((row) => (
          <td key={row.row} className="number">
            {solvedText(row)}
          </td>
        ))}
      </tr>
    </Table>
  );
}

function Measured({ adapterId }: { readonly adapterId: string }) {
  const { value: report, error } = useTasks(adapterId);
  return (
    <>
      <Problem error={error} />
      {report && (
        <>
          <p className="verdict">{report.sentence}</p>
          <Grid report={report} />
          <p className="muted">
            By {report.agent}. Each outcome leads to its conversation; shares solved have 95 % intervals over tasks, p values by
            McNemar's exact test.
          </p>
        </>
      )}
    </>
  );
}

/** Whether an agent solves more with the adapter than without it: what counts most of all that is known of it. */
export function TasksCard({ adapter: { adapter_id: id, tasks } }: { readonly adapter: Adapter }) {
  return (
    <Card
      title="Tasks solved"
      tone={tasks?.verdict ? TASK_TONES[tasks.verdict] : undefined}
      actions={<TasksChip tasks={tasks} />}
    >
      {tasks === null ? (
        <p>
          Not measured: <code>imprint evaluate {id} --tasks FOLDER</code> lets an agent try tasks with it and without it.
        </p>
      ) : (
        <Measured adapterId={id} />
      )}
    </Card>
  );
}
