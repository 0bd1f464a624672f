import type * as Fs from "node:fs";
import type * as FsPromises from "node:fs/promises";
import { sep } from "node:path";
import type Libsql from "libsql";
import type { Random } from "../support/from-schema.js";

// Real files and a real database behind calls that fail when they are told to. What was written and not forced to the disk is
// known, so that a crash can lose it.

const real: typeof Fs = process.getBuiltinModule("node:fs");

/** One fault, which meets the operation after so many others. */
export interface Fault {
  readonly code: (typeof FILE_FAULTS)[number] | (typeof DATABASE_FAULTS)[number];
  after: number;
}

export const FILE_FAULTS = ["EIO", "ENOSPC", "EMFILE", "short write"] as const;
export const DATABASE_FAULTS = ["SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_BUSY"] as const;

interface Entry {
  readonly path: string;
  /** Where it stood before it was renamed; null: it was made here. */
  readonly from: string | null;
  /** What it replaced. */
  readonly replaced: Buffer | null;
}

/** The disk that the service under simulation writes to. */
export const disk = {
  /** Only what lies below is failed and watched. */
  root: null as string | null,
  fault: null as Fault | null,
  /** When the power is cut, and what that does. */
  power: null as { after: number; readonly cut: () => void } | null,
  wasCut: false,
  /** Operations under way. */
  pending: 0,
  /** Operations that failed, since it was emptied last. */
  failed: [] as string[],
  /** Files whose content would be lost with the power, and names that folders would not have. */
  unforced: new Set<string>(),
  entries: [] as Entry[],
};

/** Goes on with another data directory, all of which is on the disk. */
export const mount = (root: string | null): void => {
  Object.assign(disk, { root, fault: null, power: null, wasCut: false, failed: [], unforced: new Set(), entries: [] });
};

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(folder + sep);

const isOurs = (path: unknown): path is string => typeof path === "string" && disk.root !== null && isBelow(path, disk.root);

const READS = new Set(["readFile", "readdir", "stat", "lstat", "opendir", "readlink", "open"]);

/** Whether an operation that comes now is to fail. */
const meets = (name: string, kind: "file" | "database"): string | null => {
  const { fault, power } = disk;
  if (power && power.after-- <= 0) {
    Object.assign(disk, { power: null, wasCut: true });
    power.cut();
  }
  if (fault === null || (fault.code.startsWith("SQLITE") ? "database" : "file") !== kind) return null;
  // A read writes nothing, so that it never finds the disk full.
  if (READS.has(name) && (fault.code === "ENOSPC" || fault.code === "short write")) return null;
  if (name !== "write" && fault.code === "short write") return null;
  if (fault.after > 0) {
    fault.after -= 1;
    return null;
  }
  disk.fault = null;
  disk.failed.push(`${fault.code} of ${name}`);
  return fault.code;
};

const failure = (code: string, name: string, path: string): Error =>
  Object.assign(new Error(`${code}: simulated, ${name} '${path}'`), { code, syscall: name, path });

const check = (name: string, path: unknown): void => {
  if (!isOurs(path)) return;
  const code = meets(name, "file");
  if (code !== null) throw failure(code, name, path);
};

const contentOf = (path: string): Buffer | null => {
  try {
    return real.readFileSync(path);
  } catch {
    return null; // not there, or a folder
  }
};

/** Something was written, and is in no way forced to the disk. */
const wrote = (path: string): void => {
  if (isOurs(path)) disk.unforced.add(path);
};

const made = (path: string, from: string | null = null, replaced: Buffer | null = null): void => {
  if (isOurs(path)) disk.entries.push({ path, from, replaced });
};

const forced = (path: string): void => {
  disk.unforced.delete(path);
  disk.entries = disk.entries.filter((entry) => entry.path.slice(0, entry.path.lastIndexOf(sep)) !== path);
};

const moved = (from: string, to: string): void => {
  for (const path of [...disk.unforced])
    if (isBelow(path, from)) {
      disk.unforced.delete(path);
      disk.unforced.add(to + path.slice(from.length));
    }
};

/** Content before a failed write, of which half arrives. */
const half = (content: unknown): unknown =>
  typeof content === "string" || content instanceof Uint8Array ? content.slice(0, content.length >> 1) : "";

const watchedHandle = (handle: FsPromises.FileHandle, path: string): FsPromises.FileHandle => {
  const write = async (name: "write" | "writeFile", given: unknown[]): Promise<unknown> => {
    wrote(path);
    const code = meets("write", "file");
    const call = Reflect.get(handle, name) as (...given: unknown[]) => Promise<unknown>;
    if (code === null) return call.apply(handle, given);
    if (code === "short write") await handle.writeFile(half(given[0]) as string);
    throw failure(code === "short write" ? "ENOSPC" : code, "write", path);
  };
  return new Proxy(handle, {
    get: (target, name) => {
      if (name === "write" || name === "writeFile") return counted((...given: unknown[]) => write(name, given));
      if (name === "sync" || name === "datasync")
        return counted(async () => {
          check("fsync", path);
          await target.sync();
          forced(path);
        });
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
};

/** A call that is counted while it is under way. */
const counted =
  <Given extends unknown[], Answer>(call: (...given: Given) => Promise<Answer>) =>
  async (...given: Given): Promise<Answer> => {
    disk.pending += 1;
    return call(...given).finally(() => {
      disk.pending -= 1;
    });
  };

/** `node:fs/promises` on this disk. */
export const faultyFiles = (files: typeof FsPromises): typeof FsPromises => {
  /** A call that fails when it is told to. */
  const failing =
    (name: string, after: (given: readonly unknown[]) => void = () => {}) =>
    async (...given: unknown[]): Promise<unknown> => {
      check(name, given.find(isOurs));
      const call = Reflect.get(files, name) as (...given: unknown[]) => Promise<unknown>;
      const answer = await call(...given);
      after(given);
      return answer;
    };
  const plain = ["mkdir", "mkdtemp", "rm", "unlink", "utimes", "readFile", "readdir", "stat", "lstat", "opendir", "readlink"];
  const ours = {
    ...Object.fromEntries(plain.map((name) => [name, failing(name)])),
    ...Object.fromEntries(
      ["link", "cp", "copyFile"].map((name) => [
        name,
        failing(name, ([, to]) => {
          if (name !== "link") wrote(String(to));
          made(String(to));
        }),
      ]),
    ),
    async open(path: string, flags: string | number = "r", mode?: number) {
      check("open", path);
      const handle = await files.open(path, flags, mode);
      if (!isOurs(path)) return handle;
      if (typeof flags === "string" && /[wa]/.test(flags)) {
        wrote(path);
        made(path);
      }
      return watchedHandle(handle, path);
    },
    async writeFile(path: unknown, content: unknown, options?: object) {
      // A handle has its own.
      if (typeof path !== "string") return (path as FsPromises.FileHandle).writeFile(content as string, options);
      if (isOurs(path)) {
        wrote(path);
        made(path);
        const code = meets("write", "file");
        if (code === "short write") await files.writeFile(path, half(content) as string);
        if (code !== null) throw failure(code === "short write" ? "ENOSPC" : code, "write", path);
      }
      await files.writeFile(path, content as string, options);
      if (options && "flush" in options && options.flush) disk.unforced.delete(path);
    },
    async rename(from: string, to: string) {
      check("rename", from);
      const replaced = isOurs(to) ? contentOf(to) : null;
      await files.rename(from, to);
      moved(from, to);
      made(to, from, replaced);
    },
  };
  return {
    ...files,
    ...Object.fromEntries(Object.entries(ours).map(([name, call]) => [name, counted(call as () => Promise<unknown>)])),
  };
};

/** `libsql` on this disk: a statement that is told to fails, and does nothing. */
export const faultyDatabase = (Database: typeof Libsql): typeof Libsql => {
  const fail = (sql: string): void => {
    // A rollback only forgets.
    const code = disk.root === null || /^\s*rollback/i.test(sql) ? null : meets(sql.trim().split(/\s/, 1)[0] ?? "", "database");
    if (code !== null) throw Object.assign(new Error(`${code}: simulated`), { code });
  };
  return class extends Database {
    override exec(sql: string) {
      fail(sql);
      return super.exec(sql);
    }
    override prepare<Given extends unknown[] | object = unknown[]>(sql: string) {
      const statement = super.prepare<Given>(sql);
      return new Proxy(statement as object, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name, target);
          if (typeof value !== "function") return value;
          return (...given: unknown[]) => {
            if (name === "run" || name === "all" || name === "iterate") fail(sql);
            return value.apply(target, given);
          };
        },
      }) as typeof statement;
    }
  } as typeof Libsql;
};

/** What a power cut leaves of the data directory: a copy, without what was not forced to the disk, some of it or all. */
export const cut = (to: string, random: Random): readonly string[] => {
  const root = disk.root ?? "";
  for (let whole = false; !whole; )
    try {
      real.cpSync(root, to, { recursive: true, force: true, preserveTimestamps: true });
      whole = true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // removed in the background meanwhile
    }
  const placeOf = (path: string): string => to + path.slice(root.length);
  const lost: string[] = [];
  for (const { path, from, replaced } of disk.entries.toReversed()) {
    const place = placeOf(path);
    if (!real.existsSync(place) || random() < 0.5) continue;
    const old = from === null ? null : placeOf(from);
    if (old !== null && !real.existsSync(old) && real.existsSync(old.slice(0, old.lastIndexOf(sep)))) real.renameSync(place, old);
    else real.rmSync(place, { recursive: true });
    if (replaced !== null) real.writeFileSync(place, replaced);
    lost.push(`the name ${path.slice(root.length)}`);
  }
  for (const path of disk.unforced) {
    const place = placeOf(path);
    const size = real.statSync(place, { throwIfNoEntry: false })?.size ?? 0;
    if (size === 0 || random() < 0.5) continue;
    real.truncateSync(place, Math.floor(random() * size));
    lost.push(`a part of ${path.slice(root.length)}`);
  }
  return lost;
};
