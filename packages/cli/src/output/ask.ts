import { createInterface } from "node:readline/promises";
import { withSignals } from "@imprint/contracts";
import type { Io } from "../io.js";
import { plain } from "./text.js";

/** Asks once on standard error; the answer is trimmed and lower case, empty when there is none. A Ctrl-C is no answer. */
export async function ask({ input, err }: Pick<Io, "input" | "err">, question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input, output: err, terminal: true });
  const given = new AbortController();
  lines.once("SIGINT", () => given.abort());
  lines.once("close", () => given.abort());
  try {
    const answer = await withSignals([signal, given.signal], (end) => lines.question(plain(question), { signal: end }));
    return answer.trim().toLowerCase();
  } catch {
    err.write("\n");
    return "";
  } finally {
    lines.close();
  }
}
