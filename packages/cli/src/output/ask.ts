import { createInterface } from "node:readline/promises";
import { withSignals } from "@imprint/contracts";
import type { Io } from "../io.js";
import { plain } from "./text.js";

type Asked = Pick<Io, "input" | "err">;

/** Whether a person is there to answer. */
export const canAsk = ({ input, err }: Asked): boolean => input.isTTY === true && err.isTTY === true;

/** Whether an answer says yes. */
export const isYes = (answer: string | null): boolean => answer === "y" || answer === "yes";

/** Asks once on standard error; the answer is trimmed and lower case. Null for a Ctrl-C, and where nobody can answer. */
export async function ask({ input, err }: Asked, question: string, signal?: AbortSignal): Promise<string | null> {
  const lines = createInterface({ input, output: err, terminal: true });
  const given = new AbortController();
  lines.once("SIGINT", () => given.abort());
  lines.once("close", () => given.abort());
  try {
    const answer = await withSignals([signal, given.signal], (end) => lines.question(plain(question), { signal: end }));
    return answer.trim().toLowerCase();
  } catch {
    err.write("\n");
    return null;
  } finally {
    lines.close();
  }
}
