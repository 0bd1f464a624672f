import type { SessionFormat } from "@imprint/contracts";
import { SessionUnreadable } from "@imprint/sessions";
import { describe, expect, it } from "vitest";
import { foreignRecord } from "../src/foreign.js";
import { RECORD_FORMATS } from "../src/formats/registry.js";
import { isObject, type JsonObject, parseJson } from "../src/values/json.js";
import { importText } from "./support/import-text.js";
import { PLAIN_SAMPLES, SAMPLES } from "./support/samples.js";

const ALL = [...SAMPLES, ...PLAIN_SAMPLES];
const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");
const isLines = (text: string): boolean => linesOf(text).length > 1 && linesOf(text).every((line) => isObject(parseJson(line)));

/** The format that a text is read as; null where it is refused. */
const formatOf = async (text: string, name = "recording.jsonl"): Promise<SessionFormat | null> => {
  try {
    return (await importText(text, {}, name)).format;
  } catch (error) {
    if (error instanceof SessionUnreadable) return null;
    throw error;
  }
};

/** What an importer is shown of a text: its lines, its document, or the list that the document is. */
function recordsOf(text: string): JsonObject[] {
  if (isLines(text)) return linesOf(text).map(parseJson).filter(isObject);
  const value = parseJson(text);
  if (Array.isArray(value)) return [...value.filter(isObject), { messages: value }];
  return isObject(value) ? [value] : [];
}

describe.each(ALL)("a recording of $format in $name", ({ format, text }) => {
  it("is known by its content, whatever the file is called", async () => {
    for (const name of ["events.jsonl", "session.json", "x"]) expect(await formatOf(text, name)).toBe(format);
  });

  it("is claimed by no other agent's format, and by no tool that is refused", () => {
    const agents = [
      "claude-code",
      "claude-stream",
      "codex",
      "gemini-cli",
      "qwen-code",
      "cline",
      "opencode",
      "copilot-cli",
      "pi",
      "codex-exec",
      "gemini-stream",
      "goose",
      "vscode-chat",
      "cursor",
      "agent-data-protocol",
    ];
    const records = recordsOf(text);
    const claims = RECORD_FORMATS.filter(
      ({ name, recognises }) =>
        agents.includes(name) && records.some((record, at) => recognises(record, records.slice(0, at + 1))),
    );
    expect(claims.map(({ name }) => name)).toEqual(agents.includes(format) ? [format] : []);
    expect(records.map(foreignRecord).filter((reason) => reason !== null)).toEqual([]);
  });
});

describe.each(ALL.filter(({ text }) => isLines(text)))("the lines of $format in $name", ({ format, text }) => {
  const lines = linesOf(text);

  it("are never taken for another format when the first ones are gone", async () => {
    for (let from = 1; from < lines.length; from++)
      expect([format, null]).toContain(await formatOf(lines.slice(from).join("\n")));
  });

  it("are never taken for another format when the first one is torn", async () => {
    const [first = "", ...rest] = lines;
    for (const part of [0.2, 0.5, 0.9])
      expect([format, null]).toContain(await formatOf([first.slice(Math.floor(first.length * part)), ...rest].join("\n")));
  });
});
