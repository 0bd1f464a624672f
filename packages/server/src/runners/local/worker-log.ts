import type { Clock } from "../../common/clock.js";
import { createByteRing } from "./byte-ring.js";
import { readable } from "./readable.js";

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
