import type { Candidate } from "../files/candidate.js";
import type { Io } from "../io.js";
import { bar, CLEAR_LINE, fit } from "../output/bar.js";
import { bytes, count, plain } from "../output/text.js";
import type { Observer } from "./import-files.js";

/** A terminal is drawn at most this often, a log gets a line at most this often. */
const DRAW_MS = 100;
const LINE_MS = 5_000;

export interface ImportProgress extends Required<Observer> {
  /** Leaves nothing on the terminal. */
  end(): void;
}

/** How far an import is, in files and bytes: one line that is drawn again on a terminal, a line now and then elsewhere. */
export function importProgress({
  io: { err, paint },
  candidates,
  now,
}: {
  readonly io: Pick<Io, "err" | "paint">;
  readonly candidates: readonly Candidate[];
  readonly now: () => number;
}): ImportProgress {
  const terminal = err.isTTY === true;
  const total = candidates.reduce((sum, { size }) => sum + size, 0);
  let files = 0;
  let done = 0;
  let last = now();

  const figures = (): string => `${files}/${count(candidates.length, "file")}  ${bytes(done)}/${bytes(total)}`;
  const show = (name: string): void => {
    if (now() - last < (terminal ? DRAW_MS : LINE_MS)) return;
    last = now();
    const share = total === 0 ? files / candidates.length : done / total;
    err.write(
      terminal
        ? CLEAR_LINE + fit(`${bar(share, paint.err)}  ${figures()}  ${plain(name)}`, err.columns || 80)
        : `importing: ${figures()}\n`,
    );
  };
  return {
    onStart: ({ path }) => show(path),
    onFile: ({ path }, { size }) => {
      files += 1;
      done += size;
      show(path);
    },
    end: () => {
      if (terminal) err.write(CLEAR_LINE);
    },
  };
}
