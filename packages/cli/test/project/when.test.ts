import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isTime, type Machine, thisMachine } from "../../src/project/when.js";

const NOON = new Date(2026, 2, 3, 12);
const minutesBefore = (minutes: number): Date => new Date(NOON.getTime() - minutes * 60_000);

/** A machine at noon whose terminals were typed at so many minutes before, and whose programs print this. */
async function machineOf({
  typed = [] as readonly number[],
  prints = {} as Record<string, string>,
  ...others
}): Promise<Machine> {
  const folder = await mkdtemp(path.join(tmpdir(), "imprint-when-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(path.join(folder, "pts"));
  for (const [at, minutes] of typed.entries()) {
    const file = path.join(folder, at % 2 === 0 ? `tty${at}` : `pts/${at}`);
    await writeFile(file, "");
    await utimes(file, minutesBefore(minutes), NOON);
  }
  // No terminal: written and read all the time.
  await writeFile(path.join(folder, "null"), "");
  return {
    now: () => NOON,
    platform: "linux",
    terminals: [folder, path.join(folder, "pts"), path.join(folder, "none")],
    ask: async (...words) => prints[words.join(" ")] ?? "",
    ...others,
  };
}

test("a machine is idle five minutes after somebody typed at its last terminal", async () => {
  expect(await isTime("idle", await machineOf({}))).toBe(true);
  expect(await isTime("idle", await machineOf({ typed: [60, 6] }))).toBe(true);
  expect(await isTime("idle", await machineOf({ typed: [60, 4] }))).toBe(false);
  expect(await isTime("idle", await machineOf({ typed: [0, 60] }))).toBe(false);
});

test("a desktop of Linux is used while one of its sessions does not call itself idle, and macOS counts", async () => {
  const linux = (type: string, idle: string) => ({
    "loginctl list-sessions --no-legend": "  2 1000 somebody seat0 tty2\n c1 120 gdm seat0 -\n",
    "loginctl show-session 2 -p Type -p IdleHint": `Type=${type}\nIdleHint=${idle}\n`,
    "loginctl show-session c1 -p Type -p IdleHint": "Type=wayland\nIdleHint=yes\n",
  });
  const isIdle = async (prints: Record<string, string>, platform = "linux") =>
    isTime("idle", await machineOf({ prints, platform: platform as NodeJS.Platform }));
  expect(await isIdle(linux("wayland", "no"))).toBe(false);
  expect(await isIdle(linux("x11", "yes"))).toBe(true);
  // Of a terminal the time of the last key says more.
  expect(await isIdle(linux("tty", "no"))).toBe(true);
  const mac = (seconds: number) => ({ "ioreg -rd1 -c IOHIDSystem": `  | "HIDIdleTime" = ${seconds * 1e9}\n` });
  expect([await isIdle(mac(299), "darwin"), await isIdle(mac(301), "darwin")]).toEqual([false, true]);
});

test("the night is from 22 to 7 o'clock, whoever is there, and now is always", async () => {
  const at = async (hour: number) => machineOf({ typed: [0], now: () => new Date(2026, 2, 3, hour) });
  const hours = [21, 22, 6, 7];
  expect(await Promise.all(hours.map(async (hour) => isTime("night", await at(hour))))).toEqual([false, true, true, false]);
  expect(await isTime("now", await at(12))).toBe(true);
});

test("what a machine is asked that has no such program is nothing", async () => {
  expect(await thisMachine.ask("imprint-no-such-program")).toBe("");
});
