import { statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** Whether a base model is named by a path: by its looks alone. */
export const isPath = (text: string): boolean => isAbsolute(text) || /^(\.{1,2}|~)([/\\]|$)/.test(text);

/** A path as its user writes it, with ~ for the home folder, in full. */
export const toPath = (path: string, home: string = homedir()): string =>
  resolve(path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path);

/** The folder that a base model is given by; null when it is given by a name or hub id. */
export const asFolder = (text: string, home?: string): string | null =>
  isPath(text) || (text.includes("/") && statSync(text, { throwIfNoEntry: false })?.isDirectory()) ? toPath(text, home) : null;

/** Whether the storage of a cluster is an address, and no path of this machine. */
export const isStoreUrl = (storage: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(storage);
