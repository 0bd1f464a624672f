import { type Imprint, NotFoundError } from "@imprint/client";
import type { Session, SessionSummary, Step } from "@imprint/contracts";

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}_]+/gu));

/** How many words two texts share, of all that they have (Jaccard). */
export function likeness(one: string, other: string): number {
  const [left, right] = [wordsOf(one), wordsOf(other)];
  const shared = [...left].filter((word) => right.has(word)).length;
  return shared === 0 ? 0 : shared / (left.size + right.size - shared);
}

/** The sessions that are still stored. */
export async function stored(client: Imprint, ids: readonly string[]): Promise<readonly SessionSummary[]> {
  const found = await Promise.all(
    ids.map((id) =>
      client.sessions.get(id).catch((error: unknown) => {
        if (error instanceof NotFoundError) return null;
        throw error;
      }),
    ),
  );
  return found.filter((one) => one !== null);
}

/** The session whose first request is most like a prompt; the first of those that are as like. Null where there is none. */
export const mostLike = (sessions: readonly SessionSummary[], prompt: string): SessionSummary | null =>
  sessions.toSorted((one, other) => likeness(other.task, prompt) - likeness(one.task, prompt))[0] ?? null;

const NAMES = { user: "Request", agent: "Agent", system: "" } as const;

const linesOf = ({ source, text, tool_calls = [], observations = [] }: Step): readonly string[] => [
  ...(text.trim() === "" ? [] : [`${NAMES[source]}: ${text.trim()}`]),
  ...tool_calls.map(({ name, arguments: given }) => `Agent calls ${name}: ${given}`),
  ...observations.map(({ content }) => `Result: ${content.trim()}`),
];

/** Characters that a token has at least, in words of people and of programs. */
const CHARACTERS = 3;
/** One argument of a program is at most 128 KiB long on Linux. */
const LONGEST = 30_000;

/** What is asked, behind a session as text that fills at most half of the context, in tokens. */
export function promptWith({ steps }: Pick<Session, "steps">, prompt: string, context: number): string {
  const text = steps
    .filter(({ source }) => source !== "system")
    .flatMap(linesOf)
    .join("\n\n")
    .slice(0, Math.min(LONGEST, Math.floor((context / 2) * CHARACTERS)));
  return `This is how a similar task was done before:\n\n${text}\n\nThis is your task:\n\n${prompt}`;
}
