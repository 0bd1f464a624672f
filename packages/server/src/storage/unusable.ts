import { ConfigError } from "../common/error.js";

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: "a file is in the way",
  ENOTDIR: "a file is in the way",
  ENOENT: "nothing can be made there",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "links lead in a circle",
};

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error ? String(error.code) : undefined;

/** Why the service cannot work on a data directory, as a setting that its user can change. */
export const unusableDataDirectory = (root: string, cause: unknown): ConfigError => {
  const reason = REASONS[codeOf(cause) ?? ""] ?? "its files cannot be written";
  return new ConfigError([
    `The data directory ${root} cannot be used: ${reason}. Choose another with --data-dir or IMPRINT_DATA_DIR.`,
  ]);
};
