interface LineReaderOptions {
  readonly maxLineBytes: number;
  /** A line without its end. */
  readonly onLine: (line: Buffer) => void;
  /** A line grew beyond the cap. Nothing is read after it. */
  readonly onTooLong: () => void;
}

export interface LineReader {
  push(chunk: Buffer): void;
  /** Bytes of a line that has no end yet. */
  pending(): number;
}

const NEWLINE = 0x0a;

/** Cuts bytes into lines however they arrive, and never holds more than one line of at most `maxLineBytes`. */
export function createLineReader({ maxLineBytes, onLine, onTooLong }: LineReaderOptions): LineReader {
  let parts: Buffer[] = [];
  let held = 0;
  let broken = false;

  const hold = (part: Buffer): boolean => {
    held += part.length;
    parts.push(part);
    if (held <= maxLineBytes) return true;
    broken = true;
    parts = [];
    held = 0;
    onTooLong();
    return false;
  };

  return {
    push(chunk) {
      let start = 0;
      while (!broken && start < chunk.length) {
        const newline = chunk.indexOf(NEWLINE, start);
        if (!hold(chunk.subarray(start, newline < 0 ? undefined : newline)) || newline < 0) return;
        const line = Buffer.concat(parts);
        parts = [];
        held = 0;
        start = newline + 1;
        onLine(line);
      }
    },
    pending: () => held,
  };
}
