import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Interrupted } from "../process/failures.mjs";

const POLL_MS = 300;

/** Runs `work` while this process alone holds `file`. A lock whose process is gone is taken over. */
export async function withLock({ file, signal, onWait, isAlive = processIsAlive }, work) {
  mkdirSync(path.dirname(file), { recursive: true });
  const own = JSON.stringify({ pid: process.pid, host: os.hostname(), id: `${Date.now()}-${Math.random()}` });
  let told = false;
  while (!create(file, own)) {
    const seen = read(file);
    const holder = seen === null ? null : parse(seen);
    if (seen !== null && !isHeld(holder, isAlive) && takeOver(file, seen)) continue;
    if (!told) onWait?.(holder?.pid ?? null);
    told = true;
    await wait(POLL_MS, undefined, { signal }).catch(() => {
      throw new Interrupted();
    });
  }
  try {
    return await work();
  } finally {
    if (read(file) === own) rmSync(file, { force: true });
  }
}

function create(file, content) {
  try {
    writeFileSync(file, content, { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST" || error.code === "EPERM") return false;
    throw error;
  }
}

function isHeld(holder, isAlive) {
  if (holder === null) return false;
  return holder.host !== os.hostname() || isAlive(holder.pid);
}

// The rename decides between two takers; a lock that changed in between is given back.
function takeOver(file, seen) {
  const aside = `${file}.stale-${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return false;
  }
  const stale = read(aside) === seen;
  if (!stale) create(file, read(aside));
  rmSync(aside, { force: true });
  return stale;
}

function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function processIsAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
