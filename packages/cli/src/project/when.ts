import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

/** When a watched project trains. */
export const WHEN = {
  now: "as sessions end",
  night: "at night, from 22 to 7 o'clock",
  idle: "once nobody has used this machine for five minutes",
} as const;
export type When = keyof typeof WHEN;

const UNUSED_MS = 5 * 60_000;
const [EVENING, MORNING] = [22, 7];

/** What is asked of the machine. */
export interface Machine {
  readonly now: () => Date;
  readonly platform: NodeJS.Platform;
  /** Folders of terminals, whose access times tell when somebody typed (tty(4)). */
  readonly terminals: readonly string[];
  /** What a program prints; empty where there is none. */
  readonly ask: (program: string, ...words: readonly string[]) => Promise<string>;
}

const run = promisify(execFile);
export const thisMachine: Machine = {
  now: () => new Date(),
  platform: process.platform,
  terminals: ["/dev", "/dev/pts"],
  ask: async (program, ...words) => (await run(program, words, { timeout: 2_000 }).catch(() => ({ stdout: "" }))).stdout,
};

/** When somebody last typed at a terminal, in milliseconds since 1970. */
async function typed({ terminals }: Machine): Promise<number> {
  const namesIn = async (folder: string) => (await readdir(folder).catch(() => [])).map((name) => path.join(folder, name));
  const files = (await Promise.all(terminals.map(namesIn))).flat().filter((file) => /\/(tty\w+|\d+)$/.test(file));
  const at = async (file: string): Promise<number> => (await stat(file).catch(() => null))?.atimeMs ?? 0;
  return Math.max(0, ...(await Promise.all(files.map(at))));
}

/** The same of keyboard and mouse of a desktop: what macOS counts in nanoseconds, or a session of Linux that does not call itself idle. */
async function touched({ platform, now, ask }: Machine): Promise<number> {
  if (platform === "darwin") {
    const idle = /"HIDIdleTime" = (\d+)/.exec(await ask("ioreg", "-rd1", "-c", "IOHIDSystem"))?.[1];
    return idle === undefined ? 0 : now().getTime() - Number(idle) / 1e6;
  }
  const sessions = (await ask("loginctl", "list-sessions", "--no-legend")).match(/^ *\S+/gm) ?? [];
  const asked = sessions.map((id) => ask("loginctl", "show-session", id.trim(), "-p", "Type", "-p", "IdleHint"));
  const isUsed = (shown: string): boolean => /^Type=(x11|wayland|mir)$/m.test(shown) && /^IdleHint=no$/m.test(shown);
  return (await Promise.all(asked)).some(isUsed) ? now().getTime() : 0;
}

/** Whether it is time to train. */
export async function isTime(when: When, machine: Machine = thisMachine): Promise<boolean> {
  const hour = machine.now().getHours();
  if (when === "night") return hour >= EVENING || hour < MORNING;
  if (when === "now") return true;
  return machine.now().getTime() - Math.max(await typed(machine), await touched(machine)) >= UNUSED_MS;
}
