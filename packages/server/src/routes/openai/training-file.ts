import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ProblemError } from "../../problem.js";
import type { SavedFile } from "../../sessions/save.js";
import type { Workshop } from "../../training/work.js";
import { checkConversations } from "./conversations.js";

const refuse = (message: string): ProblemError =>
  new ProblemError("VALIDATION_FAILED", `Field training_file ${message}.`, { errors: [{ path: "/training_file", message }] });

const store = async (bytes: Uint8Array, { paths, fileStore, sessionLimit, now }: Workshop): Promise<SavedFile> => {
  try {
    return await fileStore.store({
      bytes,
      format: "chat-jsonl",
      outcome: undefined,
      folder: paths.sessions,
      limit: sessionLimit,
      at: now().toISOString(),
    });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "SESSION_UNREADABLE")
      throw refuse(`is no chat JSONL: ${error.message.replace(/\.$/, "")}`);
    throw error;
  }
};

/** Stores the conversations of an uploaded file as sessions. Throws ProblemError for a file that cannot be trained on as it is. */
export const importTrainingFile = async (
  fileId: string,
  workshop: Workshop,
): Promise<SavedFile & { readonly sessionIds: readonly string[] }> => {
  const bytes = await readFile(join(workshop.paths.uploads, fileId)).catch(() => {
    throw refuse("names a file whose content is gone: upload it again");
  });
  const fault = await checkConversations(bytes);
  if (fault) throw refuse(fault);
  const saved = await store(bytes, workshop);
  return { ...saved, sessionIds: [...new Set(saved.result.sessions.map(({ session_id }) => session_id))] };
};
