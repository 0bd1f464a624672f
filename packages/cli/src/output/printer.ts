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
