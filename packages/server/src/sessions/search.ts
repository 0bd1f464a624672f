import type { SessionSummary } from "@imprint/contracts";

/** What a search looks through: the words that lists show, in small letters. */
export const searchedText = ({ session_id, format, outcome, task }: SessionSummary): string =>
  `${session_id} ${format} ${outcome} ${task}`.toLowerCase();

/** The words of a search: a session is found that has all of them, as parts of its own. */
export const wordsOf = (search: string): readonly string[] => search.toLowerCase().split(/\s+/).filter(Boolean);
