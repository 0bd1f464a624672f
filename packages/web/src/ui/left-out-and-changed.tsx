import type { TrainingPlan } from "@imprint/contracts";
import { Tally } from "./tally.js";

type Counts = Pick<TrainingPlan, "dropped" | "changed">;

const entries = (counts: Counts["dropped"]) => counts.map(({ reason, count }) => ({ name: reason, count }));

/** What a training does not learn, and what it learns in another form than it was recorded in. */
export function LeftOutAndChanged({ counts }: { readonly counts: Counts }) {
  return (
    <>
      <h3>Not learned</h3>
      <Tally entries={entries(counts.dropped)} none="Every turn is learned." />
      <h3>Changed</h3>
      <Tally entries={entries(counts.changed)} none="Everything is as it was recorded." />
    </>
  );
}
