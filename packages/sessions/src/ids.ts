const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
/** Room for `-<n>` behind a file's id. */
const MAX_BASE = 112;

/** The format's own id where it can name a session, else one made from the format and the content's hash. */
export const fileId = (own: string | null, format: string, sha256: string): string =>
  own !== null && SESSION_ID.test(own) && own.length <= MAX_BASE ? own : `${format}-${sha256.slice(0, 16)}`;

const PART = /^[A-Za-z0-9._-]*[A-Za-z][A-Za-z0-9._-]*$/;
const MAX_PART = 80;

/** A file's id with a conversation's own name behind it; null where the name cannot stand in an id, or reads like a position. */
export const partId = (file: string, part: string | null): string | null =>
  part !== null && PART.test(part) && part.length <= MAX_PART && file.length + part.length < 128 ? `${file}-${part}` : null;

/** The id of the n-th (from 1) conversation of a file. */
export const conversationId = (file: string, position: number): string => `${file}-${position}`;
