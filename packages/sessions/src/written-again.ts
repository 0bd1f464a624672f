import type { Step } from "@imprint/contracts";

/** From how many steps on nobody says the same again, word for word. */
const MANY = 4;
/** Steps that are compared on each side of a call that was found again; where more agree their own calls find them. */
const NEAR = 500;

function isSame(early: Step | undefined, late: Step | undefined): boolean {
  if (early === undefined || late === undefined) return false;
  const [calls, again] = [early.tool_calls ?? [], late.tool_calls ?? []];
  return (
    early.source === late.source &&
    early.text === late.text &&
    calls.length === again.length &&
    calls.every(({ name, arguments: given }, at) => again[at]?.name === name && again[at]?.arguments === given)
  );
}

/** Of each position, how many steps from there on are the first ones again (the Z algorithm). */
function prefixLengths(steps: readonly Step[]): Int32Array {
  const lengths = new Int32Array(steps.length);
  let [from, to] = [0, 0];
  for (let at = 1; at < steps.length; at++) {
    let length = at < to ? Math.min(to - at, lengths[at - from] ?? 0) : 0;
    while (at + length < steps.length && isSame(steps[length], steps[at + length])) length++;
    lengths[at] = length;
    if (at + length > to) [from, to] = [at, at + length];
  }
  return lengths;
}

/** Without repeats of all that was said before them. People do say the same again, but a few words only, and at another time. */
function withoutOpenings(steps: readonly Step[]): readonly Step[] {
  let kept = steps;
  for (;;) {
    const lengths = prefixLengths(kept);
    const isAgain = (at: number): boolean =>
      at >= MANY || (kept[0]?.timestamp !== undefined && kept[0].timestamp === kept[at]?.timestamp);
    const at = lengths.findIndex((length, place) => place > 1 && length >= place && isAgain(place));
    if (at < 0) return kept;
    const times = 1 + Math.floor((lengths[at] ?? 0) / at);
    kept = [...kept.slice(0, at), ...kept.slice(at * times)];
  }
}

/** Without stretches of an exchange whose calls have the ids of earlier ones: new calls get new ids. */
function withoutStretches(steps: readonly Step[]): readonly Step[] {
  const kept: Step[] = [];
  const first = new Map<string, number>();
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at] as Step;
    const [call] = step.tool_calls ?? [];
    const early = call === undefined ? undefined : first.get(call.id);
    if (early !== undefined && isSame(kept[early], step)) {
      let before = 0;
      while (before < NEAR && kept.length - before - 1 > early && isSame(kept[early - before - 1], kept.at(-before - 1)))
        before++;
      let hasRequest = kept.slice(kept.length - before).some(({ source }) => source === "user");
      let behind = 0;
      while ((hasRequest || behind < NEAR) && early + behind + 1 < kept.length - before) {
        const next = steps[at + behind + 1];
        if (!isSame(kept[early + behind + 1], next)) break;
        hasRequest ||= next?.source === "user";
        behind++;
      }
      if (hasRequest) {
        kept.length -= before;
        at += behind;
        continue;
      }
    }
    if (call !== undefined && early === undefined) first.set(call.id, kept.length);
    kept.push(step);
  }
  return kept.length === steps.length ? steps : kept;
}

/** Steps without those that a tool wrote down once more when it went on. */
export function withoutWrittenAgain(steps: readonly Step[]): readonly Step[] {
  const opening = Math.max(
    0,
    steps.findIndex(({ source }) => source !== "system"),
  );
  const said = steps.slice(opening);
  const once = withoutOpenings(withoutStretches(said));
  return once.length === said.length ? steps : [...steps.slice(0, opening), ...once];
}
