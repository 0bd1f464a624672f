import { expect, it } from "vitest";
import { unread } from "../src/dropped.js";
import { droppedOf, importText, jsonLines } from "./support/import-text.js";

const item = (type: string, payload: object): object => ({ timestamp: "2026-01-05T10:00:00.000Z", type, payload });
const said = item("response_item", { type: "message", role: "user", content: [{ type: "input_text", text: "Go" }] });

it("names a line that is not read by what it says it is, where that can be nothing but a name", () => {
  expect(unread("system", "turn_duration")).toBe("line not read: system turn_duration");
  for (const kind of [undefined, null, 7, "", "two words", "x".repeat(60), "key-8f3a9c1d2e"])
    expect(unread(kind)).toBe("line not read: of no known kind");
});

it("counts as many kinds as a person reads, however many a file invents", async () => {
  const letters = (index: number): string => String.fromCharCode(97 + (index % 26), 97 + Math.floor(index / 26));
  const lines = Array.from({ length: 300 }, (_, index) => item(`kind_${letters(index)}`, {}));
  const dropped = droppedOf(await importText(jsonLines(said, ...lines, said)));
  expect(Object.keys(dropped)).toHaveLength(201);
  expect(dropped).toMatchObject({ "line not read: kind_aa": 1, others: 100 });
});
