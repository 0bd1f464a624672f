import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { isObject } from "@imprint/contracts";
import { fieldRefused } from "../../common/error.js";
import type { KindDeps } from "../../kinds/deps.js";
import type { SavedFile } from "../../sessions/save.js";

const MAX_CONVERSATIONS = 1000;
/** Parsed between two looks at other requests. */
const BYTES_AT_ONCE = 256 * 1024;
const NEWLINE = 0x0a;

const ROLES: ReadonlySet<unknown> = new Set(["system", "developer", "user", "assistant", "tool", "function"]);

const faultOfMessages = (messages: readonly unknown[]): string | null => {
  const at = messages.findIndex((message) => !isObject(message) || !ROLES.has(message.role));
  if (at >= 0) return `has no known role in message ${at + 1}`;
  return messages.some((message) => isObject(message) && message.role === "assistant")
    ? null
    : "holds nothing that an assistant says";
};

const faultOf = (line: string): string | null => {
  try {
    const record: unknown = JSON.parse(line);
    return isObject(record) && Array.isArray(record.messages) ? faultOfMessages(record.messages) : 'is no {"messages": [...]}';
  } catch {
    return "is not JSON";
  }
};

function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, start);
    yield bytes.subarray(start, end < 0 ? undefined : end);
    start = end < 0 ? bytes.length : end + 1;
  }
}

/** What keeps a file from being OpenAI's chat JSONL, ending a sentence about it; null when nothing does. */
const checkConversations = async (bytes: Buffer): Promise<string | null> => {
  let [number, conversations, sinceBreak] = [0, 0, 0];
  for (const line of linesOf(bytes)) {
    number += 1;
    sinceBreak += line.length;
    const text = line.toString("utf8").trim();
    if (text === "") continue;
    const fault = faultOf(text);
    if (fault) return `cannot be trained on: line ${number} ${fault}`;
    conversations += 1;
    if (conversations > MAX_CONVERSATIONS) return `holds more than ${MAX_CONVERSATIONS} conversations: split it`;
    if (sinceBreak > BYTES_AT_ONCE) {
      await setImmediate();
      sinceBreak = 0;
    }
  }
  return conversations === 0 ? "names an empty file" : null;
};

const store = async (file: string, { sessions }: KindDeps): Promise<SavedFile> => {
  try {
    return await sessions.import(async () => file, { format: "chat-jsonl" });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "SESSION_UNREADABLE")
      throw fieldRefused("training_file", `is no chat JSONL: ${error.message.replace(/\.$/, "")}`);
    throw error;
  }
};

const importFile = async (fileId: string, deps: KindDeps): Promise<readonly string[]> => {
  const file = join(deps.paths.uploads, fileId);
  const bytes = await readFile(file).catch(() => {
    throw fieldRefused("training_file", "names a file whose content is gone: upload it again");
  });
  const fault = await checkConversations(bytes);
  if (fault) throw fieldRefused("training_file", fault);
  const { result } = await store(file, deps);
  return [...new Set(result.sessions.map(({ session_id }) => session_id))];
};

/** Stores the conversations of an uploaded file, and answers their ids. Throws ProblemError for a file that cannot be trained on as it is. */
export type ImportTrainingFile = (fileId: string) => Promise<readonly string[]>;

/** Imports a file once at a time: clients that were told to wait ask again, and wait for the import that is under way. */
export const createTrainingFiles = (deps: KindDeps): ImportTrainingFile => {
  const underWay = new Map<string, Promise<readonly string[]>>();
  return (fileId) => {
    const running = underWay.get(fileId) ?? importFile(fileId, deps).finally(() => underWay.delete(fileId));
    underWay.set(fileId, running);
    return running;
  };
};
