/** A change to a file, by the path that the agent gave. */
export type Edit = { readonly path: string } & (
  | { readonly kind: "write"; readonly text: string }
  /** Null where the file is removed. */
  | { readonly kind: "remove" }
  | { readonly kind: "move"; readonly to: string }
  | { readonly kind: "replace"; readonly old: string; readonly text: string; readonly all: boolean }
);

const FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;

/** The pieces of an update: the lines that stand there, and those that take their place. */
function pieces(lines: readonly string[]): readonly { readonly old: readonly string[]; readonly new: readonly string[] }[] {
  const found: { old: string[]; new: string[] }[] = [];
  let piece: { old: string[]; new: string[] } | undefined;
  for (const line of lines) {
    if (line.startsWith("@@")) piece = undefined;
    else if (/^[ +-]/.test(line) || line === "") {
      if (piece === undefined) {
        piece = { old: [], new: [] };
        found.push(piece);
      }
      if (!line.startsWith("+")) piece.old.push(line.slice(1));
      if (!line.startsWith("-")) piece.new.push(line.slice(1));
    }
  }
  return found;
}

/** The edits of a patch as Codex and opencode write it. A piece that names no line of the file is left out: where it goes is not said. */
export function readPatch(text: string): readonly Edit[] {
  const edits: Edit[] = [];
  const lines = text.replaceAll("\r", "").split("\n");
  const starts = lines.flatMap((line, at) => (FILE.test(line) ? [at] : []));
  starts.forEach((start, index) => {
    const [, kind, path = ""] = FILE.exec(lines[start] ?? "") ?? [];
    const body = lines.slice(start + 1, starts[index + 1] ?? lines.length);
    const end = body.findIndex((line) => line.startsWith("*** End Patch"));
    const own = body.slice(0, end < 0 ? body.length : end);
    const [, to] = own.map((line) => MOVE.exec(line)).find((found) => found !== null) ?? [];
    if (kind === "Delete") edits.push({ kind: "remove", path });
    else if (kind === "Add") {
      const added = own.filter((line) => line.startsWith("+")).map((line) => line.slice(1));
      edits.push({ kind: "write", path, text: `${added.join("\n")}\n` });
    } else {
      for (const piece of pieces(own.filter((line) => !line.startsWith("***"))))
        if (piece.old.length > 0)
          edits.push({ kind: "replace", path, old: piece.old.join("\n"), text: piece.new.join("\n"), all: false });
      if (to !== undefined) edits.push({ kind: "move", path, to });
    }
  });
  return edits;
}
