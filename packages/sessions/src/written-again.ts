import type { Step } from "@imprint/contracts";

const words = ({ source, text, tool_calls = [] }: Step): string =>
  JSON.stringify([source, text, tool_calls.map(({ name, arguments: given }) => [name, given])]);

/** Of each position, how many items from there on are the list's first ones again (the Z algorithm). */
function prefixLengths(items: readonly string[]): Int32Array {
  const lengths = new Int32Array(items.length);
  let [from, to] = [0, 0];
  for (let at = 1; at < items.length; at++) {
    let length = at < to ? Math.min(to - at, lengths[at - from] ?? 0) : 0;
    while (at + length < items.length && items[length] === items[at + length]) length++;
    lengths[at] = length;
    if (at + length > to) [from, to] = [at, at + length];
  }
  return lengths;
}

/** From how many steps on nobody says the same again, word for word. */
const MANY = 4;

/** People do say the same again, and get the same answer; but neither do calls keep their ids then, nor steps their times. */
function isSameEvent(steps: readonly Step[], at: number, firstCall: number): boolean {
  const step = firstCall >= 0 && firstCall < at ? firstCall : 0;
  const [early, late] = [steps[step], steps[at + step]];
  const [id] = early?.tool_calls ?? [];
  if (id !== undefined && step === firstCall) return id.id === late?.tool_calls?.[0]?.id;
  return at >= MANY || (early?.timestamp !== undefined && early.timestamp === late?.timestamp);
}

/** Steps without those in which a tool that went on wrote all that it had once more, from the beginning. */
export function withoutWrittenAgain(steps: readonly Step[]): readonly Step[] {
  const opening = steps.findIndex(({ source }) => source !== "system");
  let kept = steps.slice(Math.max(0, opening));
  for (;;) {
    const lengths = prefixLengths(kept.map(words));
    const firstCall = kept.findIndex(({ tool_calls = [] }) => tool_calls.length > 0);
    const at = lengths.findIndex((length, index) => index > 1 && length >= index && isSameEvent(kept, index, firstCall));
    if (at < 0) return kept.length === steps.length ? steps : [...steps.slice(0, Math.max(0, opening)), ...kept];
    const times = 1 + Math.floor((lengths[at] ?? 0) / at);
    kept = [...kept.slice(0, at), ...kept.slice(at * times)];
  }
}
