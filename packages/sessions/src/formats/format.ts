import type { SessionFormat } from "@imprint/contracts";
import { type Draft, draft } from "../draft.js";
import type { Transcript } from "../transcript.js";
import type { JsonObject } from "../values/json.js";

/** Where a reader puts what it makes, and whom it asks about limits. */
export interface Output {
  /** Hands over one whole conversation. */
  conversation(made: Draft): void;
  /** Counts a record that claims a known type but has no usable body. */
  badRecord(): void;
  /** A tool's output, shortened in its middle once the file's text exceeds what one import keeps. */
  fit(text: string): string;
  /** Counts text that is held in memory. */
  hold(length: number): void;
  warn(sentence: string): void;
}

/** Hands over what a transcript has gathered, with what else is known. */
export function handOver(output: Output, talk: Transcript, known: Partial<Omit<Draft, "steps" | "dropped">>): void {
  // All that was left out is known once the steps are made.
  const steps = talk.steps();
  output.conversation(draft({ ...known, steps, dropped: talk.dropped.entries() }));
}

/** Takes the records of a file one by one. */
export interface Reader<Item> {
  accept(item: Item): void;
  finish(): void;
}

/** A format whose files are JSON objects: one a line, elements of one array, or one document. */
export interface RecordFormat {
  readonly name: SessionFormat;
  /** What shows the format, as a refusal names it. */
  readonly sign: string;
  /** Whether the newest record of `head` (all records so far) shows that the file is of this format. */
  recognises(record: JsonObject, head: readonly JsonObject[]): boolean;
  read(output: Output): Reader<JsonObject>;
}

/** A format whose files are lines of text. */
export interface TextFormat {
  readonly name: SessionFormat;
  readonly sign: string;
  recognisesLine(line: string): boolean;
  readText(output: Output): Reader<string>;
}
