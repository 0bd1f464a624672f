import type { Evaluation, EvaluationRow } from "@imprint/contracts";
import { type Interval, Intervals } from "../plot/intervals.js";
import { hrefOf } from "../router/route.js";
import { intervalText, meaningOf, percent, pValue, rowName, signed } from "../text/evaluation.js";
import { count, short, words } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { EVALUATION_TONES } from "../text/verdict.js";
import { Card } from "../ui/card.js";
import { Facts } from "../ui/facts.js";
import { Table } from "../ui/table.js";

const intervalOf = (row: EvaluationRow): Interval => {
  const { change, interval } = row;
  if (change === null || interval === null) return { label: rowName(row), value: 0, interval: null, text: "0 by definition" };
  const text = `${signed(change)} (${intervalText(interval)}): ${meaningOf(interval)}`;
  return { label: rowName(row), value: change, interval, text };
};

/** How far each row's loss is from the base model's. */
function Changes({ result }: { readonly result: Evaluation }) {
  return (
    <Intervals
      title="Change of the loss on unseen sessions, nats per token, with its 95 % interval"
      rows={result.rows.map(intervalOf)}
      sides={["better than the base model", "worse"]}
    />
  );
}

const MEDIANS = [
  ["median", "median token"],
  ["median_of_turns", "median turn"],
] as const;

interface Props {
  readonly result: Evaluation;
}

/** Loss and share of right first guesses by what kind of token it is. */
function KindsTable({ result: { rows } }: Props) {
  const kinds = rows.find(({ row }) => row === "base")?.kinds ?? [];
  return (
    <Table label="Kinds of tokens" head={["Kind", "Tokens", ...rows.map(rowName)]}>
      {kinds.map(({ kind, tokens }) => (
        <tr key={kind}>
          <th scope="row">{words(kind)}</th>
          <td className="number">{tokens.toLocaleString("en")}</td>
          {rows.map((row) => {
            const own = row.kinds.find((one) => one.kind === kind);
            return (
              <td key={rowName(row)} className="number nowrap">
                {own && own.tokens > 0 ? `${short(own.loss)}, ${percent(own.top1)} right` : "–"}
              </td>
            );
          })}
        </tr>
      ))}
      <tr>
        <th scope="row">all</th>
        <td className="number">{(rows[0]?.tokens ?? 0).toLocaleString("en")}</td>
        {rows.map((row) => (
          <td key={rowName(row)} className="number nowrap">
            {short(row.loss)}, {percent(row.top1)} right
          </td>
        ))}
      </tr>
      {MEDIANS.filter(([name]) => rows.every((row) => row[name] !== undefined)).map(([name, label]) => (
        <tr key={name}>
          <th scope="row">{label}</th>
          <td />
          {rows.map((row) => (
            <td key={rowName(row)} className="number nowrap">
              {short(row[name] ?? 0)}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

const noteOf = ({ near_copy_of: original, dropped_turns: dropped }: Evaluation["sessions"][number]): string =>
  [
    ...(original === null ? [] : [`near copy of ${original}`]),
    ...(dropped === 0 ? [] : [`${count(dropped, "turn")} left out: trained on`]),
  ].join("; ");

/** The loss on each session. */
function SessionsTable({ result: { rows, sessions } }: Props) {
  const lossOf = (row: EvaluationRow, id: string): number | undefined =>
    row.sessions.find(({ session_id }) => session_id === id)?.loss;
  const base = rows.find(({ row }) => row === "base");
  return (
    <Table label="Sessions tested on" head={["Session", "Supervised tokens", ...rows.map(rowName), "Note"]}>
      {sessions.map((session) => {
        const { session_id: id } = session;
        const before = base && lossOf(base, id);
        return (
          <tr key={id}>
            <td>
              <a className="mono" href={hrefOf(["sessions", id])}>
                {id}
              </a>
            </td>
            <td className="number">{session.supervised_tokens.toLocaleString("en")}</td>
            {rows.map((row) => {
              const loss = lossOf(row, id);
              return (
                <td key={rowName(row)} className="number nowrap">
                  {loss === undefined ? "–" : short(loss)}
                  {row !== base && loss !== undefined && before !== undefined && ` (${signed(loss - before)})`}
                </td>
              );
            })}
            <td className="note">{noteOf(session)}</td>
          </tr>
        );
      })}
    </Table>
  );
}

/** What the adapter does to texts that have nothing to do with it. */
function NeutralTable({ result: { neutral } }: Props) {
  return (
    <Table label="Neutral texts" head={["Text", "Base model", "With the adapter", "Change"]}>
      {neutral.map(({ name, loss_before: before, loss_after: after }) => (
        <tr key={name}>
          <th scope="row">{words(name)}</th>
          <td className="number">{short(before)}</td>
          <td className="number">{short(after)}</td>
          <td className="number nowrap">{signed(after - before)}</td>
        </tr>
      ))}
    </Table>
  );
}

const ACTIONS = [
  ["valid_call", "A call that can be read"],
  ["same_tool", "The tool that was recorded"],
  ["same_arguments", "Its arguments too"],
  ["same_file", "The same file"],
  ["loop", "The call before once more"],
] as const;

/** What model and adapter would have done next, against what was recorded. */
function ActionsTable({ actions }: { readonly actions: NonNullable<Evaluation["actions"]> }) {
  const { sampled, base, adapter, p_values: p } = actions;
  const share = (amount: number): string => `${amount} of ${sampled}${sampled > 0 ? ` (${percent(amount / sampled)})` : ""}`;
  return (
    <Table label="Next actions" head={["The next action is", "Base model", "With the adapter", "p (McNemar)"]}>
      {ACTIONS.map(([name, label]) => (
        <tr key={name}>
          <th scope="row">{label}</th>
          <td className="number nowrap">{share(base[name])}</td>
          <td className="number nowrap">{share(adapter[name])}</td>
          <td className="number nowrap">{pValue(p[name])}</td>
        </tr>
      ))}
    </Table>
  );
}

/** A finished evaluation: the verdict first, then what it rests on. */
export function EvaluationReport({ result }: { readonly result: Evaluation }) {
  const { verdict, sentence, skipped, base_model: base, actions, versions } = result;
  return (
    <>
      <Card title={`Verdict: ${words(verdict)}`} tone={EVALUATION_TONES[verdict]}>
        <p className="verdict">{sentence}</p>
      </Card>
      <Changes result={result} />
      <Card title="By kind of token">
        <p className="muted">Loss in nats per token, and how often the likeliest token was the right one.</p>
        <KindsTable result={result} />
      </Card>
      <Card title="Session by session">
        <SessionsTable result={result} />
        {skipped.length > 0 && (
          <ul>
            {skipped.map(({ session_id: id, message }) => (
              <li key={id}>
                <code>{id}</code> is skipped: {plain(message)}
              </li>
            ))}
          </ul>
        )}
      </Card>
      <div className="columns">
        <Card title="Text that has nothing to do with it">
          <NeutralTable result={result} />
        </Card>
        <Card title="Next actions">
          {actions ? (
            <ActionsTable actions={actions} />
          ) : (
            <p className="muted">None was asked for, or no tested turn calls a tool.</p>
          )}
        </Card>
      </div>
      <Card title="How it was measured">
        <Facts
          facts={[
            ["Base model", base.name],
            ["Its SHA-256", <code key="sha">{base.sha256}</code>],
            ["Seed", <code key="seed">{result.seed}</code>],
            ["Window", `at most ${count(result.max_length, "token")}`],
            [
              "Versions",
              Object.entries(versions)
                .map(([name, version]) => `${name} ${version}`)
                .join(", "),
            ],
          ]}
        />
      </Card>
    </>
  );
}
