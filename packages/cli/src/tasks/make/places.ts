import path from "node:path";

/**
 * What a recording calls the top of a repository: the folder below which most of the paths that it names are files of the repository.
 * Null where none of them is.
 */
export function rootIn(named: readonly string[], known: ReadonlySet<string>, folder: string | null): string | null {
  const votes = new Map<string, number>();
  for (const one of new Set(named)) {
    if (!one.startsWith("/")) continue;
    const parts = one.split("/");
    for (let at = 1; at < parts.length; at++) {
      if (!known.has(parts.slice(at).join("/"))) continue;
      const root = parts.slice(0, at).join("/") || "/";
      votes.set(root, (votes.get(root) ?? 0) + 1);
    }
  }
  const isNear = (root: string): boolean => folder !== null && (folder === root || folder.startsWith(`${root}/`));
  const [best] = [...votes].toSorted(
    ([left, many], [right, more]) => more - many || Number(isNear(right)) - Number(isNear(left)) || left.length - right.length,
  );
  return best?.[0] ?? null;
}

/** A session's folder as its texts write it: an account's name is `dev`, `dev2` and so on in them, and itself in what is found again by it. */
export function folderIn(texts: readonly string[], folder: string): string {
  const [, homes, below] = /^(\/(?:home|Users)\/)[^/]+(.*)$/.exec(folder) ?? [];
  if (homes === undefined || below === undefined || texts.some((text) => text.includes(folder))) return folder;
  const written = new RegExp(`${homes}dev\\d*${below.replaceAll(/[^\w/]/g, "\\$&")}(?![\\w.-])`);
  return texts.map((text) => written.exec(text)?.[0]).find((one) => one !== undefined) ?? folder;
}

/** A path from the top of the repository; null where it is not in it. */
export function pathBelow(root: string, given: string, folder: string): string | null {
  const found = path.posix.relative(root, path.posix.resolve(folder, given));
  return found === "" || found.startsWith("..") ? null : found;
}
