import type { SessionFormat } from "@imprint/contracts";
import { CONVERT, foreignLine, foreignRecord } from "./foreign.js";
import type { Output, Reader, RecordFormat, TextFormat } from "./formats/format.js";
import { findRecordFormat, findTextFormat, RECORD_FORMATS, TEXT_FORMATS } from "./formats/registry.js";
import { SessionUnreadable } from "./session-unreadable.js";
import type { Items } from "./source/items.js";
import { unwrapped } from "./source/unwrap.js";
import type { JsonObject } from "./values/json.js";

/** Finds a file's format from its first items, and from then on passes items to that format's reader. */
export interface Dispatcher {
  accept(items: Items): void;
  /** The format, once it is found. */
  format(): SessionFormat | undefined;
  /** @throws SessionUnreadable when no format was found. */
  finish(): SessionFormat;
}

interface Options {
  readonly name: string;
  readonly output: Output;
  readonly forced: SessionFormat | undefined;
  /** Records looked at before the file is refused. */
  readonly head: number;
}

/** Whether a line of text shows one of the text formats, or a text of a tool that is refused by its name. */
export const isTextLine = (line: string): boolean =>
  TEXT_FORMATS.some((format) => format.recognisesLine(line)) || foreignLine(line) !== null;

const refusal = (name: string, what: string): SessionUnreadable => {
  const signs = [...RECORD_FORMATS, ...TEXT_FORMATS].map((format) => `${format.name} (${format.sign})`);
  return new SessionUnreadable(
    `${name} is no recorded session of a known format (${what}). To have it read, ${CONVERT}. Looked for ${signs.join("; ")}.`,
  );
};

function recognise(record: JsonObject, head: readonly JsonObject[]): RecordFormat | undefined {
  return RECORD_FORMATS.find((format) => format.recognises(record, head));
}

export function dispatcher({ name, output, forced, head: limit }: Options): Dispatcher {
  let format: RecordFormat | TextFormat | undefined;
  let records: Reader<JsonObject> | undefined;
  let text: Reader<string> | undefined;
  let head: JsonObject[] = [];
  let junk = 0;

  const refuseForeign = (reason: string | null): void => {
    if (reason !== null) throw new SessionUnreadable(`${name} ${reason}`);
  };
  const startRecords = (found: RecordFormat): void => {
    format = found;
    records = found.read(output);
    for (const record of head) records.accept(record);
    head = [];
  };
  const startText = (found: TextFormat): void => {
    format = found;
    text = found.readText(output);
  };
  const forcedRecords = forced === undefined ? undefined : findRecordFormat(forced);
  const forcedText = forced === undefined ? undefined : findTextFormat(forced);
  if (forcedRecords !== undefined) startRecords(forcedRecords);
  if (forcedText !== undefined) startText(forcedText);

  const acceptRecord = (record: JsonObject): void => {
    if (records !== undefined) {
      records.accept(record);
      return;
    }
    refuseForeign(foreignRecord(record));
    head.push(record);
    const found = recognise(record, head);
    if (found !== undefined) startRecords(found);
    else if (head.length > limit) throw refusal(name, `none in its first ${limit} records`);
  };

  return {
    accept: (items) => {
      if (items.kind === "records") {
        junk += items.bad;
        if (format === undefined && junk > limit) throw refusal(name, `no JSON object in its first ${limit} lines`);
        if (text !== undefined) throw new SessionUnreadable(`${name} holds JSON, not the text of the format that was asked for.`);
        for (const record of items.records) for (const one of unwrapped(record)) acceptRecord(one);
        return;
      }
      if (records !== undefined)
        throw new SessionUnreadable(`${name} holds text, not the JSON of the format that was asked for.`);
      const [found] = TEXT_FORMATS;
      if (text === undefined) for (const line of items.lines) refuseForeign(foreignLine(line));
      if (text === undefined && found !== undefined) startText(found);
      for (const line of items.lines) text?.accept(line);
    },
    format: () => format?.name,
    finish: () => {
      if (format === undefined)
        throw refusal(name, head.length > 0 ? "JSON without turns" : "neither JSON nor a known transcript");
      records?.finish();
      text?.finish();
      return format.name;
    },
  };
}
