import { UsageError } from "../errors.js";

/** Fewer characters are no prefix: they would fit by accident. */
export const SHORTEST_PREFIX = 4;
/** Stands for the newest id of a kind. */
export const LATEST = "latest";
/** Ids that a refusal names. */
export const MOST_NAMED = 10;

export const isPrefix = (given: string): boolean => given.length >= SHORTEST_PREFIX;

/** Throws a UsageError that lists what a prefix may mean. `isCut`: there are more than these. */
export function refuseAmbiguous(given: string, ids: readonly string[], isCut: boolean): never {
  const named = ids.slice(0, MOST_NAMED);
  const more = isCut || ids.length > named.length ? ["and others"] : [];
  throw new UsageError([`"${given}" begins more than one id: write more of it`, ...named, ...more].join("\n"));
}

/** The one of `ids` that is meant by an id, or by the beginning of just one; null where none is. Throws a UsageError. */
export function pick(given: string, ids: readonly string[]): string | null {
  if (ids.includes(given)) return given;
  const meant = isPrefix(given) ? ids.filter((id) => id.startsWith(given)) : [];
  if (meant.length > 1) refuseAmbiguous(given, meant, false);
  return meant[0] ?? null;
}
