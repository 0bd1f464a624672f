/** Characters that are written in one turn of the event loop. */
const PIECE = 1024 * 1024;

/** What JSON.stringify makes of plain data, in parts of which none is much longer than `piece`. */
function* partsOf(value: unknown, piece: number): Generator<string> {
  if (typeof value === "string" && value.length > piece) {
    yield '"';
    for (let at = 0; at < value.length; at += piece) yield JSON.stringify(value.slice(at, at + piece)).slice(1, -1);
    yield '"';
  } else if (Array.isArray(value)) {
    yield "[";
    for (const [at, item] of value.entries()) {
      if (at > 0) yield ",";
      yield* partsOf(item, piece);
    }
    yield "]";
  } else if (typeof value === "object" && value !== null) {
    let separator = "{";
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      yield `${separator}${JSON.stringify(key)}:`;
      yield* partsOf(item, piece);
      separator = ",";
    }
    yield separator === "{" ? "{}" : "}";
  } else yield JSON.stringify(value) ?? "null";
}

/** The same as a line, in pieces; the last one is what it returns. */
function* lineOf(value: unknown, piece: number): Generator<string, string> {
  let text = "";
  for (const part of partsOf(value, piece)) {
    text += part;
    if (text.length < piece) continue;
    yield text;
    text = "";
  }
  return `${text}\n`;
}

/**
 * Writes values as lines of JSON, one after the other: a short one at once, a long one in many turns of the event loop, since a
 * conversation of 64 MiB would hold up all other requests.
 */
export function createLineWriter(write: (text: string) => void, piece = PIECE): (value: unknown) => void {
  const lines: Generator<string, string>[] = [];
  const go = (): void => {
    for (let [line] = lines; line !== undefined; [line] = lines) {
      const { value, done } = line.next();
      write(value);
      if (!done) return void setImmediate(go);
      lines.shift();
    }
  };
  return (value) => {
    lines.push(lineOf(value, piece));
    if (lines.length === 1) go();
  };
}
