import type { Session, Step } from "@imprint/contracts";

const opening = ({ steps }: Session): string | undefined => (steps.find(({ source }) => source === "user") ?? steps[0])?.text;

const same = (left: Step | undefined, right: Step | undefined): boolean => JSON.stringify(left) === JSON.stringify(right);

/** Whether `long` goes on where `short` ends. The last step of a recording may have been cut off. */
const goesOn = (short: Session, long: Session): boolean =>
  short.steps.slice(0, -1).every((step, index) => same(step, long.steps[index]));

/** What the service records has ids of its own making, and goes on alone; redaction may know more of its opening meanwhile. */
const isRecorded = (...sessions: readonly Session[]): boolean => sessions.every(({ source }) => source.format === "gateway");

/**
 * How a recording relates to the stored one of the same id. An agent that goes on writes its session again, longer; rewinds may
 * change what was said, but not when and with which task the session began.
 */
export const relationOf = (stored: Session, next: Session): "newer" | "older" | "same" | "other" => {
  const together =
    stored.source.format === next.source.format &&
    stored.started_at === next.started_at &&
    (isRecorded(stored, next) || opening(stored) === opening(next));
  if (!together) return "other";
  const isOlder = next.steps.length < stored.steps.length;
  const [short, long] = isOlder ? [next, stored] : [stored, next];
  if (stored.started_at === null && !goesOn(short, long)) return "other";
  // Such as a compressed copy.
  if (short.steps.length === long.steps.length && short.steps.every((step, index) => same(step, long.steps[index])))
    return "same";
  return isOlder ? "older" : "newer";
};
