import { stripVTControlCharacters } from "node:util";
import type { Clock } from "../../common/clock.js";

export interface WorkerLog {
  write(chunk: Buffer): void;
  /** Passes text on: the first time from the very beginning, later from now on, since what came between belongs to nobody. */
  follow(onText: (text: string) => void): void;
  /** Passes on what is left, and stops. */
  unfollow(): void;
  /** The last lines that are not blank, oldest first. */
  lastLines(count: number): string[];
}

const KEPT_BYTES = 64 * 1024;
const RELAY_MS = 100; // text is passed on at most this often, however fast it comes

/** A worker's standard error: its end is kept, and passed on by lines at a bounded rate. A flood costs a copy, nothing more. */
export function createWorkerLog({ clock }: { readonly clock: Clock }): WorkerLog {
  const ring = createByteRing(KEPT_BYTES);
  let listener: ((text: string) => void) | undefined;
  let followed = false;
  let mark = 0;
  let disarm: (() => void) | undefined;

  const text = (from: number, to: number): string => readable(ring.between(from, to).toString("utf8"));

  const relay = (to: number): void => {
    const lost = Math.max(0, ring.total() - KEPT_BYTES - mark);
    const fresh = text(mark, to);
    mark = to;
    if (fresh !== "") listener?.((lost > 0 ? `[${lost} bytes of log left out]\n` : "") + fresh);
  };

  const relayLines = (): void => {
    disarm = undefined;
    const held = ring.between(mark, ring.total());
    const end = Math.max(held.lastIndexOf("\n"), held.lastIndexOf("\r")) + 1; // a cut line could cut a character
    if (end > 0) relay(ring.total() - held.length + end);
  };

  return {
    write(chunk) {
      ring.write(chunk);
      if (listener) disarm ??= clock.after(RELAY_MS, relayLines);
    },
    follow(onText) {
      listener = onText;
      if (followed) mark = ring.total();
      followed = true;
      if (ring.total() > mark) disarm ??= clock.after(RELAY_MS, relayLines);
    },
    unfollow() {
      disarm?.();
      disarm = undefined;
      relay(ring.total());
      listener = undefined;
    },
    lastLines: (count) =>
      text(0, ring.total())
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "")
        .slice(-count),
  };
}

export interface ByteRing {
  write(chunk: Buffer): void;
  /** Bytes written so far. */
  total(): number;
  /** What was written from byte `mark` to byte `end`, as far as it is still here. */
  between(mark: number, end: number): Buffer;
}

/** The last `capacity` bytes of a stream, in memory allocated once. */
export function createByteRing(capacity: number): ByteRing {
  const ring = Buffer.alloc(capacity);
  let total = 0;
  return {
    write(chunk) {
      const kept = chunk.subarray(-capacity);
      const at = (total + chunk.length - kept.length) % capacity;
      const head = Math.min(kept.length, capacity - at);
      kept.copy(ring, at, 0, head);
      kept.copy(ring, 0, head);
      total += chunk.length;
    },
    total: () => total,
    between(mark, end) {
      const from = Math.max(mark, total - capacity, 0);
      if (from >= end) return Buffer.alloc(0);
      const at = from % capacity;
      return Buffer.concat([ring.subarray(at), ring.subarray(0, at)]).subarray(0, end - from);
    },
  };
}

/** Text of a program made fit for logs and terminals: no escape sequences, no control characters but newline and tab. */
export function readable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  return stripVTControlCharacters(text.replace(/\r\n?/g, "\n")).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

/** Absolute paths cut down to their last part: error messages leave the machine. */
export function withoutPaths(text: string): string {
  return text.replace(/(?<![\w.:/\\])(?:[A-Za-z]:)?(?:[\\/][^\\/\s'":,;()<>|]+){2,}/g, (path) =>
    path.slice(path.search(/[^\\/]+$/)),
  );
}
