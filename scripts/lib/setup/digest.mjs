import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** Sixteen hex digits over the parts, in order; the length prefix keeps ["ab","c"] and ["a","bc"] apart. */
export function digest(...parts) {
  const hash = createHash("sha256");
  for (const part of parts) {
    const bytes = Buffer.from(part);
    hash.update(`${bytes.length}:`).update(bytes);
  }
  return hash.digest("hex").slice(0, 16);
}

/** The digest of a set of text files, names included. Line endings do not count: a Windows checkout has the same key. */
export function digestFiles(root, files) {
  return digest(
    ...[...files].sort().flatMap((file) => [file, readFileSync(path.join(root, file), "utf8").replaceAll("\r\n", "\n")]),
  );
}

/** Every file below `folder` (relative to `root`, forward slashes) that `wanted` accepts. */
export function filesBelow(root, folder, wanted) {
  const entries = readdirSync(path.join(root, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" || entry.name === "dist" ? [] : filesBelow(root, name, wanted);
    return wanted(name) ? [name] : [];
  });
}
