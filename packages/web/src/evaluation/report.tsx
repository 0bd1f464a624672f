import type { Evaluation } from "@imprint/contracts";
import { count, words } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { EVALUATION_TONES } from "../text/verdict.js";
import { Card } from "../ui/card.js";
import { Facts } from "../ui/facts.js";
import { Changes } from "./changes.js";
import { ActionsTable, KindsTable, NeutralTable, SessionsTable } from "./tables.js";

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
