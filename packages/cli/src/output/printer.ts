import type { Io } from "../io.js";
import { plain, plainButStyles, plainJson } from "./text.js";

/** Where a command says things. Nothing that is printed steers the terminal, wherever its words come from. With `--json` standard output carries one document and nothing else. */
export interface Printer {
  readonly json: boolean;
  /** What the command was asked for: the value with `--json`, else the text. Once a command. */
  result(value: unknown, text: () => string): void;
  /** What is worth knowing besides, on standard error. */
  note(text: string): void;
}

export function createPrinter(io: Io, json: boolean): Printer {
  const isColoured = io.paint.out("dim", "x") !== "x";
  const painted = isColoured ? plainButStyles : plain;
  return {
    json,
    result: (value, text) => void io.out.write(`${json ? plainJson(value) : painted(text())}\n`),
    note: (text) => void io.err.write(`${io.paint.err("dim", text)}\n`),
  };
}

/** Who waits is told this often what for. */
const EVERY_MS = 5_000;

/** Notes what is waited for, every few seconds until it is there. */
export async function waitingFor<T>(what: string, work: Promise<T>, note: (text: string) => void): Promise<T> {
  const begun = performance.now();
  const timer = setInterval(() => note(`${what} (${Math.round((performance.now() - begun) / 1000)} s)`), EVERY_MS);
  return work.finally(() => clearInterval(timer));
}
