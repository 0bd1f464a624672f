import { git } from "../git.js";

/** Asks git of a repository; null where git refuses. */
export type Git = (...args: readonly string[]) => Promise<string | null>;

export const gitIn =
  (folder: string): Git =>
  (...args) =>
    git(folder, ["-c", "core.quotePath=false", "-c", "safe.directory=*", ...args]).catch(() => null);

/** The lines of an answer, without empty ones. */
export const linesOf = (answer: string | null): readonly string[] => (answer ?? "").split("\n").filter((line) => line !== "");

/** The files of a commit: their blobs by their paths. */
export async function filesAt(ask: Git, commit: string): Promise<ReadonlyMap<string, string>> {
  const entries = ((await ask("ls-tree", "-r", "-z", "--full-tree", commit)) ?? "").split("\0");
  return new Map(
    entries.flatMap((entry) => {
      const [, type, sha, path] = /^\d+ (\w+) ([0-9a-f]+)\t([\s\S]+)$/.exec(entry) ?? [];
      return type === "blob" && sha && path ? [[path, sha] as const] : [];
    }),
  );
}
