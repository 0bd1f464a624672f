/** The one replacement that turns `before` into `after`: whole lines, `old_string` occurs exactly once in `before`. */
export function smallestEdit(before, after) {
  const from = before.split("\n");
  const to = after.split("\n");
  let head = 0;
  while (head < from.length && from[head] === to[head]) head += 1;
  let tail = 0;
  while (tail < from.length - head && from.at(-1 - tail) === to.at(-1 - tail)) tail += 1;
  for (; ; head -= 1) {
    const old_string = from.slice(head, from.length - tail).join("\n");
    const new_string = to.slice(head, to.length - tail).join("\n");
    if (old_string !== "" && before.split(old_string).length === 2) return { old_string, new_string };
    if (head === 0) throw new Error("No single edit leads from one attempt to the next");
  }
}
