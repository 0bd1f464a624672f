import type { TrainingPlan } from "@imprint/contracts";
import { count } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { Tally } from "./tally.js";

type Counts = Pick<TrainingPlan, "dropped" | "changed" | "shared" | "skipped">;

const entries = (counts: Counts["dropped"]) => counts.map(({ reason, count }) => ({ name: reason, count }));

/** Sessions that are left out, and turns that are learned from another session. */
function Sessions({ counts: { skipped, shared } }: { readonly counts: Counts }) {
  if (skipped.length + shared.length === 0) return null;
  return (
    <>
      <h3>Sessions</h3>
      <ul>
        {skipped.map(({ session_id: id, message }) => (
          <li key={id}>
            <code>{id}</code> is skipped: {plain(message)}
          </li>
        ))}
        {shared.map(({ session_id: id, supervised_in: other, turns }) => (
          <li key={`${id} ${other}`}>
            <code>{id}</code>: {count(turns, "turn")} learned from <code>{other}</code>
          </li>
        ))}
      </ul>
    </>
  );
}

/** What a training does not learn, and what it learns in another form than it was recorded in. */
export function LeftOutAndChanged({ counts }: { readonly counts: Counts }) {
  return (
    <>
      <Sessions counts={counts} />
      <h3>Not learned</h3>
      <Tally entries={entries(counts.dropped)} none="Every turn is learned." />
      <h3>Changed</h3>
      <Tally entries={entries(counts.changed)} none="Everything is as it was recorded." />
    </>
  );
}
