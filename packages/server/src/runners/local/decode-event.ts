import { type TaskResult, WORKER_KINDS, WorkerEvent, type WorkerTask } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import { Compile } from "typebox/schema";
import { readable } from "./worker-log.js";

/** The worker broke the protocol; `message` ends a sentence that starts with "The trainer". */
export class ProtocolFault extends Error {
  override readonly name = "ProtocolFault";
}

const QUOTED_CHARACTERS = 80;

const utf8 = new TextDecoder("utf-8", { fatal: true });
const compiled = () => Compile(WorkerEvent);
let protocol: ReturnType<typeof compiled> | null = null;

/** The event of a line, checked against the protocol; null for a blank line. Throws ProtocolFault. */
export function decodeEvent(line: Buffer): WorkerEvent | null {
  const text = textOf(line);
  if (text.trim() === "") return null;
  const value = parse(text);
  protocol ??= compiled();
  if (!protocol.Check(value)) throw new ProtocolFault(`wrote an event that the protocol does not know: ${quoted(text)}`);
  return value;
}

function textOf(line: Buffer): string {
  try {
    return utf8.decode(line);
  } catch {
    throw new ProtocolFault("wrote a line that is not UTF-8");
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProtocolFault(`wrote a line that is not JSON: ${quoted(text)}`);
  }
}

/** Whether a result is what a worker hands over for a task of this kind. */
export function isResultOf({ type }: WorkerTask, result: TaskResult): boolean {
  return Object.values(WORKER_KINDS).some(({ task, done }) => task.properties.type.const === type && matches(done, result));
}

function quoted(text: string): string {
  const shown = readable(text.slice(0, QUOTED_CHARACTERS)).trim();
  return `"${shown}${text.length > QUOTED_CHARACTERS ? "..." : ""}"`;
}
