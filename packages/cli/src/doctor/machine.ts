import { constants, existsSync } from "node:fs";
import { access, rm, statfs, writeFile } from "node:fs/promises";
import { freemem, totalmem } from "node:os";
import path from "node:path";
import { makeFolder, whyNotWritten } from "@imprint/server/configuration";
import { dataPaths } from "@imprint/server/stored";
import { bytes } from "../output/text.js";
import { type Finding, missing, ok, warning } from "./check.js";

const GIGABYTE = 1e9;
/** The default model trains in about this much. */
const MEMORY_NEEDED = 6 * GIGABYTE;
const DISK_NEEDED = 2 * GIGABYTE;
/** No training finds room in less: its checkpoint and its adapter lie beside each other. */
const DISK_LEAST = 0.5 * GIGABYTE;

/** A full disk takes an empty file. */
const PROBE_BYTES = 64 * 1024;

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const enough = major > 20 || (major === 20 && minor >= 19);
  return enough ? ok("node", version) : missing("node", version, "Install Node.js 20.19 or newer.");
}

export function checkMemory(total = totalmem(), free = freemem()): Finding {
  const detail = `${bytes(free)} free of ${bytes(total)}`;
  if (total >= MEMORY_NEEDED) return ok("memory", detail);
  return warning("memory", detail, "Training the default model takes about 6 GB: lower --max-length, or use a larger machine.");
}

/** The nearest folder above that exists: where a data directory that is not there yet would be made. */
async function existing(folder: string): Promise<string> {
  const there = await access(folder, constants.F_OK).then(
    () => true,
    () => false,
  );
  return there || path.dirname(folder) === folder ? folder : existing(path.dirname(folder));
}

export async function checkDisk(dataDir: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(await existing(dataDir));
  const free = bavail * bsize;
  if (free >= DISK_NEEDED) return ok("disk", `${bytes(free)} free`);
  const found = free < DISK_LEAST ? missing : warning;
  return found(
    "disk",
    `${bytes(free)} free`,
    "Free at least 2 GB where the data directory is, or choose another with --data-dir.",
  );
}

export async function checkDataDir(dataDir: string): Promise<Finding> {
  const probe = path.join(dataDir, `.doctor-${process.pid}`);
  try {
    makeFolder(dataDir);
    await writeFile(probe, Buffer.alloc(PROBE_BYTES));
    const places = Object.values(dataPaths(dataDir)).filter((place) => existsSync(place));
    for (const place of places) await access(place, constants.W_OK);
    return ok("data directory", dataDir);
  } catch (error) {
    const place =
      error instanceof Error && "syscall" in error && error.syscall === "access" && "path" in error ? error.path : dataDir;
    return missing(
      "data directory",
      `${place} cannot be written: ${whyNotWritten(error)}`,
      "Make room, make it writable, or choose another with --data-dir.",
    );
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}
