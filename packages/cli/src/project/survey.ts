import type { Candidate } from "../files/candidate.js";
import { type Repository, repositoryAt } from "../files/repository.js";
import { factsOfCandidate } from "./scope.js";

/** What agents recorded in one repository that is still on this machine. */
export interface Surveyed {
  readonly name: string;
  readonly root: string;
  readonly recordings: number;
  readonly bytes: number;
  /** When the first and the last one were written to, in milliseconds since 1970. */
  readonly first: number;
  readonly last: number;
}

const RECENT_MS = 30 * 86_400_000;

/** Recordings by repository, the one first in which there was most work of late. */
export async function survey(candidates: readonly Candidate[], now = Date.now()): Promise<readonly Surveyed[]> {
  const repositories = new Map<string, Repository | null>();
  const found = new Map<string, Surveyed & { readonly recent: number }>();
  for (const candidate of candidates) {
    const folder = (await factsOfCandidate(candidate))?.folder ?? null;
    if (folder === null) continue;
    if (!repositories.has(folder)) repositories.set(folder, await repositoryAt(folder).catch(() => null));
    const repository = repositories.get(folder);
    if (!repository) continue;
    const { name, root } = repository;
    const { size, modified } = candidate;
    const before = found.get(root) ?? { recordings: 0, bytes: 0, first: modified, last: modified, recent: 0 };
    found.set(root, {
      name,
      root,
      recordings: before.recordings + 1,
      bytes: before.bytes + size,
      first: Math.min(before.first, modified),
      last: Math.max(before.last, modified),
      recent: before.recent + (now - modified < RECENT_MS ? size : 0),
    });
  }
  return [...found.values()]
    .sort((a, b) => b.recent - a.recent || b.last - a.last)
    .map(({ recent: _recent, ...surveyed }) => surveyed);
}
