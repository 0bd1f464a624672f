import { lstat, realpath } from "node:fs/promises";
import path from "node:path";
import { UsageError } from "../errors.js";
import type { Candidate } from "../files/candidate.js";

/** What becomes of one recording: each of its files, and where the redacted one goes. */
export interface Plan {
  readonly path: string;
  readonly named: boolean;
  readonly files: readonly { readonly from: string; readonly to: string }[];
}

const COMPRESSED = /(?<ending>\.\w+)?(?<packed>\.(?:gz|zst))$/i;
/** Copies that an earlier call left beside the originals. */
const COPY = /\.redacted\.\w+$/;

const isInside = (folder: string, file: string): boolean => file.startsWith(path.resolve(folder) + path.sep);

/** A copy is not compressed: of `a.jsonl.gz` it is `a.gz.jsonl`, since `a.jsonl` may be there too. */
function copyOf(file: string, { paths, out }: { readonly paths: readonly string[]; readonly out: string | undefined }): string {
  const name = file.replace(COMPRESSED, "$<packed>$<ending>");
  if (out === undefined) return name.replace(/(\.\w+)?$/, (ending) => `.redacted${ending}`);
  const root = paths.find((one) => isInside(one, path.resolve(file)));
  return path.join(out, root === undefined ? path.basename(name) : path.relative(root, name));
}

/**
 * Where the redacted files go: with `out` under that folder as they stand in the given ones, else beside the originals.
 * @throws UsageError for a recording that is no file of its own, or is compressed and cannot be replaced
 */
export function plansOf(
  candidates: readonly Candidate[],
  { paths, out, inPlace }: { readonly paths: readonly string[]; readonly out: string | undefined; readonly inPlace: boolean },
): readonly Plan[] {
  return candidates
    .filter(({ path: file, named }) => named || !COPY.test(file))
    .map(({ path: given, named, parts = [given], lines }) => {
      if (lines !== undefined)
        throw new UsageError(`${given} is in a database, which is not rewritten: import it, its secrets go when it is stored`);
      const packed = parts.find((file) => COMPRESSED.test(file));
      if (inPlace && packed !== undefined)
        throw new UsageError(`${packed} is compressed and cannot be replaced: leave out --in-place, a copy is not compressed`);
      return { path: given, named, files: parts.map((from) => ({ from, to: inPlace ? from : copyOf(from, { paths, out }) })) };
    });
}

/** @throws UsageError, before anything is written, when a copy would lie over a file or over another copy */
export async function checkTargets(plans: readonly Plan[], { inPlace }: { readonly inPlace: boolean }): Promise<void> {
  const targets = new Set<string>();
  for (const { from, to } of plans.flatMap(({ files }) => files)) {
    const target = inPlace ? await realpath(to) : path.resolve(to);
    if (targets.has(target)) throw new UsageError(`${from}: ${to} would be written twice, choose other paths or another --out`);
    targets.add(target);
    const isThere = await lstat(target).then(
      () => true,
      () => false,
    );
    if (!inPlace && isThere) throw new UsageError(`${to} exists: remove it, or choose another folder with --out`);
  }
}
