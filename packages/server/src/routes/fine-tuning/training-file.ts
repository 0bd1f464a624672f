import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fieldRefused } from "../../common/problem.js";
import type { Workshop } from "../../kinds/workshop.js";
import type { SavedFile } from "../../sessions/save.js";

import { checkConversations } from "./conversations.js";

const store = async (file: string, { sessions }: Workshop): Promise<SavedFile> => {
  try {
    return await sessions.import(async () => file, { format: "chat-jsonl" });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "SESSION_UNREADABLE")
      throw fieldRefused("training_file", `is no chat JSONL: ${error.message.replace(/\.$/, "")}`);
    throw error;
  }
};

/** Stores the conversations of an uploaded file, and answers their ids. Throws ProblemError for a file that cannot be trained on as it is. */
export const importTrainingFile = async (fileId: string, workshop: Workshop): Promise<readonly string[]> => {
  const file = join(workshop.paths.uploads, fileId);
  const bytes = await readFile(file).catch(() => {
    throw fieldRefused("training_file", "names a file whose content is gone: upload it again");
  });
  const fault = await checkConversations(bytes);
  if (fault) throw fieldRefused("training_file", fault);
  const { result } = await store(file, workshop);
  return [...new Set(result.sessions.map(({ session_id }) => session_id))];
};
