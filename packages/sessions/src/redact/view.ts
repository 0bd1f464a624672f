/** A text as a person reads it (escapes decoded, colours gone), and where each of its characters stands in the original. */
export interface View {
  readonly text: string;
  /** The original's range of the view's characters from `start` to `end`. */
  readonly original: (start: number, end: number) => readonly [start: number, end: number];
}

const COLOUR = "\\[[0-9;?]*[A-Za-z]";
const ESCAPE = "\\u001b";
/** What separates the variables of `/proc/…/environ`. */
const NUL = "\\u0000";
const ENTITIES = "&(?:quot|apos|amp|#0?3[49]);";
const ENCODED = "%(?:3D|22|3A|3B|26|27)";
/** Colours of terminals, as bytes and as programs print them; escapes of JSON in any depth, of HTML and addresses; line ends of Windows. */
const UNREADABLE = new RegExp(
  `${ESCAPE}${COLOUR}|${ESCAPE}\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)|\\\\+(?:u001[bB]|x1[bB]|033)${COLOUR}` +
    `|${NUL}|${ENTITIES}|${ENCODED}` +
    "|\\\\+[nrt\"'`/]|\\\\+u[0-9a-fA-F]{4}|\\\\{2,}|\\r\\n?",
  "g",
);
const MAY_BE_UNREADABLE = new RegExp(`${ESCAPE}|${NUL}|\\r|${ENTITIES}|${ENCODED}|\\\\[nrt"'\`/ux\\\\0]`);
const WHITE: Readonly<Record<string, string>> = { n: "\n", r: "", t: "\t" };
const ENTITY: Readonly<Record<string, string>> = {
  "&quot;": '"',
  "&#34;": '"',
  "&#034;": '"',
  "&apos;": "'",
  "&#39;": "'",
  "&#039;": "'",
  "&amp;": "&",
};

/** The escapes that nearly all texts of JSON consist of. */
const FREQUENT: Readonly<Record<string, string>> = {
  "\\n": "\n",
  '\\"': '"',
  "\\\\": "\\",
  "\\t": "\t",
  "\\'": "'",
  "\\\\n": "\n",
  '\\\\\\"': '"',
};

function readable(sequence: string): string {
  const frequent = FREQUENT[sequence];
  if (frequent !== undefined) return frequent;
  if (sequence.startsWith("\r") || sequence.charCodeAt(0) === 0) return "\n";
  if (sequence.startsWith("&")) return ENTITY[sequence] ?? "";
  if (sequence.startsWith("%")) return decodeURIComponent(sequence);
  if (sequence.charCodeAt(0) === 0x1b || /\[[0-9;?]*[A-Za-z]$/.test(sequence)) return "";
  const unicode = /u([0-9a-fA-F]{4})$/.exec(sequence);
  if (unicode) return String.fromCharCode(Number.parseInt(unicode[1] ?? "", 16));
  const last = sequence.at(-1) ?? "";
  return WHITE[last] ?? last;
}

const plain = (text: string): View => ({ text, original: (start, end) => [start, end] });

/** The view of a text; of one without escapes it is the text itself. */
export function viewOf(text: string): View {
  if (!MAY_BE_UNREADABLE.test(text)) return plain(text);
  const parts: string[] = [];
  /** For each piece: where it begins in the view and in the original, and how long one character of it is there. */
  const views: number[] = [];
  const origins: number[] = [];
  const widths: number[] = [];
  let length = 0;
  const piece = (shown: string, origin: number, width: number): void => {
    if (shown === "") return;
    parts.push(shown);
    views.push(length);
    origins.push(origin);
    widths.push(width);
    length += shown.length;
  };
  let from = 0;
  for (const match of text.matchAll(UNREADABLE)) {
    piece(text.slice(from, match.index), from, 1);
    piece(readable(match[0]), match.index, match[0].length);
    from = match.index + match[0].length;
  }
  if (from === 0) return plain(text);
  piece(text.slice(from), from, 1);

  const pieceAt = (at: number): number => {
    let low = 0;
    let high = views.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((views[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const originOf = (at: number): { readonly start: number; readonly end: number } => {
    const index = pieceAt(at);
    const width = widths[index] ?? 1;
    const start = (origins[index] ?? 0) + (width === 1 ? at - (views[index] ?? 0) : 0);
    return { start, end: start + width };
  };
  return { text: parts.join(""), original: (start, end) => [originOf(start).start, originOf(end - 1).end] };
}
