import { type Imprint, NotFoundError } from "@imprint/client";
import { latestOf } from "@imprint/contracts";
import { CommandError, UsageError } from "../errors.js";
import { isPrefix, LATEST, MOST_NAMED, pick, refuseAmbiguous, SHORTEST_PREFIX } from "./pick.js";

const KINDS = ["session", "adapter", "job"] as const;
export type Kind = (typeof KINDS)[number];

interface Page {
  readonly ids: readonly string[];
  readonly isCut: boolean;
}

interface Source {
  readonly startingWith: (prefix: string) => Promise<Page>;
  readonly exists: (id: string) => Promise<unknown>;
  readonly newest: () => Promise<string | undefined>;
}

/** Behind the name of a project: the adapter that it stands by. */
const OF_PROJECT = latestOf("");

/** Sessions that were put by hand come first in lists, so the newest is looked for on a page. */
const NEWEST_PAGE = 100;

function sourceOf(kind: Kind, { sessions, adapters, jobs }: Imprint): Source {
  const limit = MOST_NAMED + 1;
  if (kind === "session")
    return {
      startingWith: async (prefix) => {
        const page = await sessions.list({ prefix, limit });
        return { ids: page.sessions.map(({ session_id }) => session_id), isCut: page.next !== null };
      },
      exists: (id) => sessions.get(id),
      newest: async () => {
        const { sessions: page } = await sessions.list({ limit: NEWEST_PAGE });
        return page.toSorted((left, right) => (left.created_at < right.created_at ? 1 : -1))[0]?.session_id;
      },
    };
  if (kind === "adapter")
    return {
      startingWith: async (prefix) => {
        const page = await adapters.list({ prefix, limit });
        return { ids: page.adapters.map(({ adapter_id }) => adapter_id), isCut: page.next !== null };
      },
      exists: (id) => adapters.get(id),
      newest: async () => (await adapters.list({ limit: 1 })).adapters[0]?.adapter_id,
    };
  return {
    startingWith: async (prefix) => {
      const page = await jobs.list({ prefix, limit });
      return { ids: page.jobs.map(({ job_id }) => job_id), isCut: page.next !== null };
    },
    exists: (id) => jobs.get(id),
    newest: async () => (await jobs.list({ limit: 1 })).jobs[0]?.job_id,
  };
}

/** Null where the service knows no such thing. */
const orNull = <Found>(found: Promise<Found>): Promise<Found | null> =>
  found.catch((error) => {
    if (error instanceof NotFoundError) return null;
    throw error;
  });

/**
 * The id that is meant by an id, the beginning of just one, or `latest`, and of adapters by `PROJECT@latest`; null where there is none.
 * Throws a UsageError.
 */
export async function findId(given: string, kind: Kind, client: Imprint): Promise<string | null> {
  if (kind === "adapter" && given.endsWith(OF_PROJECT)) return (await orNull(client.adapters.get(given)))?.adapter_id ?? null;
  const source = sourceOf(kind, client);
  const { ids, isCut } = await source.startingWith(given);
  // An id may be the beginning of more others than a page holds.
  if (isCut && isPrefix(given) && !ids.includes(given)) {
    if ((await orNull(source.exists(given))) !== null) return given;
    refuseAmbiguous(given, ids, true);
  }
  return pick(given, ids) ?? (given === LATEST ? ((await source.newest()) ?? null) : null);
}

interface Given {
  readonly kind: Kind;
  readonly client: Imprint;
  /** Told what a prefix stands for. */
  readonly note: (text: string) => void;
}

const MAKES: Readonly<Record<Kind, string>> = {
  session: "imprint import ~/.claude/projects stores recorded ones",
  adapter: "imprint train SESSION makes one",
  job: "imprint train SESSION starts one",
};

/** The same, told to the user; a CommandError when there is no latest. */
async function meantId(given: string, { kind, client, note }: Given): Promise<string | null> {
  const id = await findId(given, kind, client);
  if (id === null && given === LATEST) throw new CommandError(`There is no ${kind} yet: ${MAKES[kind]}.`);
  if (id === null && kind !== "adapter" && !isPrefix(given))
    throw new UsageError(`there is no ${kind} "${given}", and ids are shortened to ${SHORTEST_PREFIX} characters at least`);
  if (id !== null && id !== given) note(`${given}: ${kind} ${id}`);
  return id;
}

/**
 * The same for a command: an id that nothing begins with stays as it is, for the service to refuse or to know from elsewhere.
 * Throws a UsageError that lists what a prefix may mean, and a CommandError when there is no latest.
 */
export const fullId = async (given: string, options: Given): Promise<string> => (await meantId(given, options)) ?? given;

/** The ids of sessions to learn from, looked up one after the other. Throws as `fullId`, and a UsageError for one that is not stored. */
export async function storedSessions(
  given: readonly string[],
  { client, note }: Omit<Given, "kind">,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const one of given) {
    const id = await meantId(one, { kind: "session", client, note });
    if (id === null && (await orNull(client.sessions.get(one))) === null)
      throw new UsageError(`there is no session "${one}": imprint sessions lists the stored ones, imprint import stores more`);
    ids.push(id ?? one);
  }
  return ids;
}
