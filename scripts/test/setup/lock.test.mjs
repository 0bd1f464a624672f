import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withLock } from "../../lib/setup/lock.mjs";

let folder;
let file;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "imprint-lock-"));
  file = path.join(folder, "lock");
});
afterEach(() => rmSync(folder, { recursive: true }));

const held = (pid, host = os.hostname()) => writeFileSync(file, JSON.stringify({ pid, host, id: "theirs" }));

test("two set-ups never work at once, and the second says for which process it waits", async () => {
  const order = [];
  let release;
  const waitedFor = new Promise((resolve) => {
    release = resolve;
  });
  const first = withLock({ file }, async () => {
    await waitedFor;
    order.push("first");
  });
  const onWait = (pid) => {
    order.push(`waits for ${pid}`);
    release();
  };
  const second = withLock({ file, onWait }, async () => order.push("second"));
  await Promise.all([first, second]);
  expect(order).toEqual([`waits for ${process.pid}`, "first", "second"]);
});

test("the lock is gone after the work, also after work that failed", async () => {
  expect(await withLock({ file }, async () => existsSync(file))).toBe(true);
  expect(existsSync(file)).toBe(false);
  await expect(withLock({ file }, async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(existsSync(file)).toBe(false);
});

test("the lock of a process that is gone is taken over at once", async () => {
  held(12345);
  expect(await withLock({ file, isAlive: () => false }, async () => "mine")).toBe("mine");
});

test("a torn lock file is taken over", async () => {
  writeFileSync(file, '{"pid":');
  expect(await withLock({ file }, async () => "mine")).toBe("mine");
});

test("a lock of another host is respected, and waiting for it can be interrupted", async () => {
  held(12345, "elsewhere");
  const interrupt = new AbortController();
  const waiting = withLock(
    { file, signal: interrupt.signal, isAlive: () => false, onWait: () => interrupt.abort() },
    async () => "mine",
  );
  await expect(waiting).rejects.toThrow("interrupted");
  expect(existsSync(file)).toBe(true);
});
