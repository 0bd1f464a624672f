import type { Io } from "../io.js";

/** Where a command says things. With `--json` standard output carries one document and nothing else. */
export interface Printer {
  readonly json: boolean;
  /** What the command was asked for: the value with `--json`, else the text. Once a command. */
  result(value: unknown, text: () => string): void;
  /** What is worth knowing besides, on standard error. */
  note(text: string): void;
}

export function createPrinter(io: Io, json: boolean): Printer {
  return {
    json,
    result: (value, text) => void io.out.write(`${json ? JSON.stringify(value, null, 2) : text()}\n`),
    note: (text) => void io.err.write(`${io.paint.err("dim", text)}\n`),
  };
}
