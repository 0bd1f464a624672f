import type { Action } from "./actions.js";
import { type Edit, readPatch } from "./apply-patch.js";
import type { Ran } from "./shell-calls.js";

export interface Edited {
  readonly edit: Edit;
  /** The place of the action that made it. */
  readonly at: number;
}

const FAILED = /^\s*(?:<tool_use_error>|Error\b|ERROR\b|apply_patch verification failed|Failed to )/;
const WRITES = /^(?:write|write_file|create_file|create)$/i;
const REPLACES = /^(?:edit|multiedit|replace|str_replace|str_replace_editor|str_replace_based_edit_tool|edit_file)$/i;

const isText = (value: unknown): value is string => typeof value === "string";
const firstText = (...values: readonly unknown[]): string | undefined => values.find(isText);

function replacement(path: string, given: unknown): readonly Edit[] {
  if (typeof given !== "object" || given === null) return [];
  const one = given as Readonly<Record<string, unknown>>;
  const old = firstText(one.old_string, one.oldString, one.old_str);
  const text = firstText(one.new_string, one.newString, one.new_str) ?? "";
  if (old === undefined) return [];
  return [
    old === ""
      ? { kind: "write", path, text }
      : { kind: "replace", path, old, text, all: (one.replace_all ?? one.replaceAll) === true },
  ];
}

function ofTool({ name, input }: Action): readonly Edit[] {
  const path = firstText(input.file_path, input.filePath, input.path);
  const patch = firstText(input.input, input.patchText, input.patch);
  if (name === "apply_patch" || (name === "patch" && patch !== undefined)) return readPatch(patch ?? "");
  if (path === undefined) return [];
  const text = firstText(input.content, input.file_text);
  if ((WRITES.test(name) || input.command === "create") && text !== undefined) return [{ kind: "write", path, text }];
  if (!REPLACES.test(name)) return [];
  return Array.isArray(input.edits) ? input.edits.flatMap((one) => replacement(path, one)) : replacement(path, input);
}

/** `cat > FILE` and `apply_patch`, each with a here-document: what other commands write, their call does not say. */
function ofCommand({ command: { words, into, given, folder } }: Ran): readonly Edit[] {
  const [program, argument] = words;
  if (program === undefined) return [];
  const patch = program.text === "apply_patch" ? (given ?? argument?.text) : undefined;
  const inFolder = (path: string): string => (path.startsWith("/") ? path : `${folder}/${path}`);
  if (patch !== undefined)
    return readPatch(patch).map((edit) => ({
      ...edit,
      path: inFolder(edit.path),
      ...("to" in edit && { to: inFolder(edit.to) }),
    }));
  if (program.text !== "cat" || words.length > 1 || into === null || given === null || into.startsWith("/dev/")) return [];
  return [{ kind: "write", path: inFolder(into), text: given }];
}

/** The edits that a session's calls say in full, those left out that were refused. */
export function editsOf(actions: readonly Action[], ran: readonly Ran[]): readonly Edited[] {
  return actions.flatMap((action, at) => {
    if (action.failed || FAILED.test(action.output)) return [];
    const commands = ran.filter((one) => one.at === at && (action.exit ?? 0) === 0);
    return [...ofTool(action), ...commands.flatMap(ofCommand)].map((edit) => ({ edit, at }));
  });
}
