import { CommandError } from "../../errors.js";
import { verifyTask, wrongWith } from "../check.js";
import type { Sandbox } from "../sandbox.js";
import type { LoadedTask } from "../task-file.js";
import { foldersOfOwn, whyNot } from "./why-not.js";

interface Given {
  /** Every path that the repository ever had. */
  readonly known: ReadonlySet<string>;
  readonly sandbox: Sandbox;
  readonly signal?: AbortSignal;
}

/**
 * The task, where its check fails before and passes with its solution; else why it is none, as a sentence's part. A check that does not find
 * the repository's own Python module is tried once more with the folders that have it.
 */
export async function tryTask(loaded: LoadedTask, given: Given): Promise<LoadedTask | string> {
  const { check } = loaded.task;
  const { known, sandbox, signal } = given;
  try {
    const verified = await verifyTask(loaded, sandbox, signal);
    const { after } = verified;
    if (after?.solved === false) {
      const folders = check.startsWith("export PYTHONPATH") ? [] : foldersOfOwn(after.end, known);
      if (folders.length === 0) return `\`${check}\` fails with what the session left: ${whyNot(after.end)}`;
      const path = folders.map((folder) => (folder === "" ? "$PWD" : `$PWD/${folder}`)).join(":");
      return tryTask({ ...loaded, task: { ...loaded.task, check: `export PYTHONPATH="${path}" && ${check}` } }, given);
    }
    const wrong = wrongWith(verified);
    return wrong === null ? loaded : `\`${check}\`: ${wrong}`;
  } catch (error) {
    if (error instanceof CommandError) return error.message;
    throw error;
  }
}
