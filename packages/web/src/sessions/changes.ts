/** Lines of a text that stand together: as they were, taken out, or put in. */
export interface Run {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/** What says that the lines of a text are changes: a hunk of a unified diff, or Codex's patches. */
const CHANGES = /^(?:@@ |diff --git |\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File))/m;
const HEADS = /^(?:---|\+\+\+) /;

const kindOf = (line: string): Run["kind"] => {
  if (HEADS.test(line)) return "same";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
};

/** A text's lines by what they do to a file; one run where the text is no changes. */
export function runsOf(text: string): readonly Run[] {
  if (!CHANGES.test(text)) return [{ kind: "same", text }];
  const runs: { kind: Run["kind"]; text: string }[] = [];
  for (const line of text.split("\n")) {
    const kind = kindOf(line);
    const last = runs.at(-1);
    if (last?.kind === kind) last.text += `\n${line}`;
    else runs.push({ kind, text: line });
  }
  return runs;
}

const signed = (sign: string, text: string): string =>
  text
    .split("\n")
    .map((line) => `${sign}${line}`)
    .join("\n");

const OLD = ["old_string", "old_str", "oldText"];
const NEW = ["new_string", "new_str", "newText", "content", "file_text"];
/** What tells one call from another, in a line. */
const TELLING = ["command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url", "description", "prompt"];

const textIn = (fields: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined => {
  const found = names.map((name) => fields[name]).find((value) => typeof value === "string" && value !== "");
  return typeof found === "string" ? found : undefined;
};

/** Codex's shells take a list: what the shell is to run, or the program with its arguments. */
const lineOf = (value: unknown): string | undefined => {
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string")) return undefined;
  const [, flag = "", line] = value;
  return value.length === 3 && /^-\w*c$/.test(flag) ? line : value.join(" ");
};

const FILE = /^\*\*\* (?:Add|Update|Delete) File: (.*)$/m;
const firstLine = (text: string): string => FILE.exec(text)?.[1] ?? text.trimStart().split("\n", 1)[0] ?? "";

export interface ReadCall {
  /** One line, of what the call is about. */
  readonly about: string;
  readonly runs: readonly Run[];
}

/** A call's arguments as a person reads them: an edit as what it takes out and puts in. */
export function readCall(given: string): ReadCall {
  let fields: Readonly<Record<string, unknown>>;
  try {
    const value: unknown = JSON.parse(given);
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new SyntaxError("no fields");
    fields = { ...value };
  } catch {
    return { about: firstLine(given), runs: runsOf(given) };
  }
  const telling =
    lineOf(fields.command) ?? textIn(fields, TELLING) ?? Object.values(fields).find((value) => typeof value === "string");
  const about = typeof telling === "string" ? firstLine(telling) : "";
  const [before, after] = [textIn(fields, OLD), textIn(fields, NEW)];
  if (after !== undefined)
    return {
      about,
      runs: [
        ...(before === undefined ? [] : [{ kind: "removed" as const, text: signed("-", before) }]),
        { kind: "added", text: signed("+", after) },
      ],
    };
  const whole = Object.keys(fields).length === 1 && typeof telling === "string" ? telling : JSON.stringify(fields, null, 2);
  const patch = textIn(fields, ["patch", "input", "diff"]);
  return { about, runs: runsOf(patch ?? whole) };
}
