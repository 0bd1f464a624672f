import type { SessionFormat } from "@imprint/contracts";
import { claudeCode } from "./claude-code/format.js";
import type { RecordFormat, TextFormat } from "./format.js";
import { native } from "./native/format.js";

/** Formats of JSON records, in the order in which they are asked: the more particular sign first. */
export const RECORD_FORMATS: readonly RecordFormat[] = [native, claudeCode];

export const TEXT_FORMATS: readonly TextFormat[] = [];

export const findRecordFormat = (name: SessionFormat): RecordFormat | undefined =>
  RECORD_FORMATS.find((format) => format.name === name);

export const findTextFormat = (name: SessionFormat): TextFormat | undefined =>
  TEXT_FORMATS.find((format) => format.name === name);
