import path from "node:path";
import { isObject } from "@imprint/contracts";
import type { CopiedDatabase } from "@imprint/server/stored";
import type { Candidate } from "./candidate.js";

/** Cursor's database of all conversations is `User/globalStorage/state.vscdb`. VS Code calls its own so, too. */
export const isCursorDatabase = (file: string): boolean => path.extname(file) === ".vscdb";

interface Row {
  readonly value: string;
}

interface ComposerRow extends Row {
  readonly id: string;
  readonly bytes: number;
}

/** A conversation's rows have keys that begin with its id: `;` is the character behind `:`. */
const COMPOSERS = `select substr(key, 14) as id, cast(value as text) as value,
  length(cast(value as blob)) + (select coalesce(sum(length(cast(value as blob))), 0) from cursorDiskKV as bubble
    where bubble.key >= 'bubbleId:' || substr(composer.key, 14) || ':' and bubble.key < 'bubbleId:' || substr(composer.key, 14) || ';') as bytes
  from cursorDiskKV as composer where key >= 'composerData:' and key < 'composerData;' and value is not null order by key`;
const COMPOSER = "select cast(value as text) as value from cursorDiskKV where key = 'composerData:' || ?";
const BUBBLES = `select cast(value as text) as value from cursorDiskKV
  where key >= 'bubbleId:' || ? || ':' and key < 'bubbleId:' || ? || ';' and value is not null order by key`;

/** What a session is made of. The rest is what the editor shows, and copies of files. */
const FIELDS = new Set([
  ...["_v", "composerId", "createdAt", "lastUpdatedAt", "status", "modelConfig", "latestConversationSummary"],
  ...["fullConversationHeadersOnly", "conversation", "conversationMap"],
  ...["workspaceProjectDir", "workspaceUris", "activeBranch", "createdOnBranch"],
  ...["bubbleId", "type", "text", "thinking", "toolFormerData", "modelInfo", "images"],
]);

/** Null where the row is no JSON object. */
function parsed({ value: text }: Row): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A row as a line; one that is damaged stays as it is, and counts as a bad line. */
function lineOf(row: Row, more: object = {}): string {
  const value = parsed(row);
  if (value === null) return `${row.value.replaceAll(/\r?\n/g, " ")}\n`;
  const held = Object.entries(value).filter(([field]) => FIELDS.has(field));
  return `${JSON.stringify({ ...Object.fromEntries(held), ...more })}\n`;
}

function* linesOf({ rows }: CopiedDatabase, composerId: string): Generator<string> {
  for (const row of rows(COMPOSER, composerId) as Iterable<Row>) yield lineOf(row, { composerId });
  for (const row of rows(BUBBLES, composerId, composerId) as Iterable<Row>) yield lineOf(row);
}

const lengthOf = (held: unknown): number => (typeof held === "object" && held !== null ? Object.keys(held).length : 0);

/** Times are milliseconds, or text. */
const timeOf = (value: unknown): number => (typeof value === "number" ? value : Date.parse(String(value)) || 0);

/** Cursor's conversations in which anything was said. */
export function cursorSessions(file: string, database: CopiedDatabase): readonly Candidate[] {
  return Array.from(database.rows(COMPOSERS) as Iterable<ComposerRow>, ({ id, bytes, value }): readonly Candidate[] => {
    const { fullConversationHeadersOnly, conversation, conversationMap, lastUpdatedAt, createdAt } = parsed({ value }) ?? {};
    const isEmpty = [fullConversationHeadersOnly, conversation, conversationMap].every((held) => lengthOf(held) === 0);
    if (isEmpty && bytes === Buffer.byteLength(value)) return [];
    const modified = timeOf(lastUpdatedAt ?? createdAt);
    return [{ path: `${file}#${id}`, lines: () => linesOf(database, id), named: false, size: bytes, modified }];
  }).flat();
}
