import { readFileSync } from "node:fs";
import { importSessions } from "@imprint/sessions";
import { expect, it } from "vitest";
import { LIMITS } from "../../src/source/limits.js";
import { parquetItems } from "../../src/source/parquet.js";

const bytesOf = (name: string): Uint8Array => readFileSync(new URL(`../fixtures/${name}.parquet`, import.meta.url));
const read = (name: string) => importSessions([{ name: "part-0.parquet", bytes: bytesOf(name) }]);

it("reads messages that a table keeps as JSON text, in several row groups, with their verdict", async () => {
  const { format, sessions } = await read("messages-as-text.zstd");
  expect(format).toBe("chat-jsonl");
  expect(sessions).toMatchObject([
    { outcome: "success", outcome_signal: "resolved: true", source: { model: "m" } },
    { outcome: "failure", outcome_signal: "resolved: false" },
  ]);
  expect(sessions[0]?.steps[2]).toMatchObject({
    tool_calls: [{ id: "c1", name: "bash" }],
    observations: [{ content: "START = 6" }],
  });
});

it("reads a table of structs, whose missing fields are null, and the tools beside them", async () => {
  const { sessions } = await read("trajectory-and-tools.snappy");
  expect(sessions).toMatchObject([
    { outcome: "success", outcome_signal: "resolved: 1" },
    { outcome: "failure", outcome_signal: "resolved: 0" },
  ]);
  expect(sessions[0]?.tools).toEqual([
    { name: "bash", description: "Runs a command.", parameters: { type: "object", properties: { command: { type: "string" } } } },
    { name: "finish", description: "Ends.", parameters: { type: "object", properties: { message: { type: "string" } } } },
  ]);
  expect(sessions[1]?.steps.map(({ text }) => text)).toEqual(["You mend code.", "Count the gates.", "", "Two gates."]);
});

it("reads rows whose model is called ai as runs of SWE-agent, judged by their target", async () => {
  const { format, sessions } = await read("ai-turns.gzip");
  expect(format).toBe("swe-agent");
  expect(sessions).toMatchObject([{ outcome: "failure", outcome_signal: "target: false", source: { model: "m-1" } }]);
  expect(sessions[0]?.steps).toMatchObject([
    { source: "system", text: "You work in a shell." },
    { source: "user", text: "Count the gates." },
    { source: "agent", observations: [{ call_id: null, content: "a.py" }] },
    { source: "agent", text: "submit" },
  ]);
});

it("reads a whole document in a cell, with the reward beside it", async () => {
  const { format, sessions } = await read("atif-with-reward.brotli");
  expect(format).toBe("atif");
  expect(sessions).toMatchObject([{ session_id: "r-1", outcome: "success", outcome_signal: "reward: 1" }]);
});

it("refuses a damaged table, and one beyond the limits, with what to do", async () => {
  const whole = bytesOf("trajectory-and-tools.snappy");
  const torn = importSessions([{ name: "part-0.parquet", bytes: whole.subarray(0, whole.length - 9) }]);
  await expect(torn).rejects.toThrow(/^part-0\.parquet starts like a Parquet file but cannot be read: .+\.$/);
  const limited = (limits: object) =>
    importSessions([{ name: "part-0.parquet", bytes: whole }], { limits: { ...LIMITS, ...limits } });
  await expect(limited({ conversations: 1 })).rejects.toThrow("holds more than 1 rows; split it into smaller files.");
  await expect(limited({ table: 100 })).rejects.toThrow("is a Parquet file of more than 100 bytes; split it");
  await expect(limited({ decoded: 100 })).rejects.toMatchObject({ limit: "decoded" });
  await expect(limited({ unpackedFreely: 1, ratio: 1.01 })).rejects.toThrow("cannot be read: a page holds more than 1.01 times");
});

it("hands rows over one by one, so that what is kept of one's outputs does not shorten the next one's", async () => {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield bytesOf("trajectory-and-tools.snappy");
  }
  const handed: number[] = [];
  for await (const items of parquetItems(bytes(), "part-0.parquet", LIMITS))
    handed.push(items.kind === "records" ? items.records.length : 0);
  expect(handed).toEqual([1, 1]);
});
