import fc from "fast-check";
import { expect, test } from "vitest";
import { ProblemError } from "../../src/common/error.js";
import { parseStrictJson } from "../../src/http/strict-json.js";

const parse = (text: string): Promise<unknown> => parseStrictJson(Buffer.from(text));
const FORBIDDEN = /"__proto__"/;

test("reads every value as JSON.parse does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (value) => {
      const text = JSON.stringify(value);
      fc.pre(!FORBIDDEN.test(text));
      expect(await parse(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("refuses a key that stands twice in one object, however it is spelled, and nowhere else", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1 }), fc.jsonValue(), async (key, value) => {
      const escaped = `"${[...key].map((character) => [...Array(character.length).keys()].map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")).join("")}"`;
      const text = JSON.stringify(value);
      fc.pre(!FORBIDDEN.test(JSON.stringify(key)) && !FORBIDDEN.test(text));
      const once = JSON.stringify(key);
      await expect(parse(`{${once}:${text},${escaped}:1}`)).rejects.toThrow(ProblemError);
      expect(await parse(`[{${once}:${text}},{${escaped}:1}]`)).toHaveLength(2);
    }),
  );
});

test.each([
  '{"a":"b:{}","c":1}',
  '{"a":"\\"a\\":1"}',
  '{"a":{"a":{"a":1}}}',
  '[{"a":1},{"a":1}]',
  '"a"',
  "0",
  '{"":1}',
  '{"constructor":{"prototype":1}}',
])("%s is fine", async (text) => {
  expect(await parse(text)).toEqual(JSON.parse(text));
});

test.each([
  '{"a":NaN}',
  "{'a':1}",
  '{"a":1,}',
  "",
  "01",
  '{"__proto__":1}',
  '{"\\u005f_proto__":1}',
  '{"a":1,"a":1}',
  "[".repeat(40) + "]".repeat(40),
])("%s is refused", async (text) => {
  await expect(parse(text)).rejects.toThrow(ProblemError);
});

test("a large body takes a small multiple of the time of JSON.parse", async () => {
  const keys = `{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":1`).join(",")}}`;
  const best = async (run: () => unknown): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const begin = performance.now();
      await run();
      times.push(performance.now() - begin);
    }
    return Math.min(...times);
  };
  const plain = await best(() => JSON.parse(keys));
  expect(await best(() => parse(keys))).toBeLessThan(10 * plain);
  const nested = "[".repeat(500_000) + "]".repeat(500_000);
  expect(await best(() => expect(parse(nested)).rejects.toThrow(ProblemError))).toBeLessThan(10 * plain);
});

const MIB = 1024 * 1024;
const CODE = 'const x = "a\\n";\n\tif (x) {\n\t\treturn `ü`;\n\t}\n'; // quotes, backslashes, other than ASCII

/** Milliseconds of the processor from turn to turn of the event loop, the longest; other work on the machine is none of it. */
const longestTurn = async (work: Promise<unknown>): Promise<number> => {
  let longest = 0;
  let isOver = false;
  work.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  while (!isOver) {
    const begin = process.cpuUsage();
    await new Promise(setImmediate);
    const { user, system } = process.cpuUsage(begin);
    longest = Math.max(longest, (user + system) / 1000);
  }
  return longest;
};

const TURN_MS = 500;

test.each([
  ["of one text", () => JSON.stringify({ text: CODE.repeat((60 * MIB) / CODE.length) })],
  [
    "of 20,000 messages",
    () => JSON.stringify(Array.from({ length: 20_000 }, () => ({ role: "user", content: CODE.repeat(50) }))),
  ],
  ["of spaces", () => `[1${" ".repeat(60 * MIB)}]`],
])("a body of 60 MiB %s is read in turns of less than half a second", { timeout: 120_000 }, async (_what, make) => {
  const text = make();
  let longest = Number.POSITIVE_INFINITY;
  // The garbage collector's threads count too, in one try or another.
  for (let round = 0; round < 3 && longest > TURN_MS; round += 1) longest = Math.min(longest, await longestTurn(parse(text)));
  expect(longest).toBeLessThan(TURN_MS);
});

test.each([
  ["numbers", `[${"1,".repeat(30 * MIB)}1]`],
  ["objects", `[${'{"a":1},'.repeat(7 * MIB)}1]`],
])("a body of millions of %s is refused before it is read to its end", async (_what, text) => {
  const reading = parse(text);
  expect(await longestTurn(reading.catch(() => {}))).toBeLessThan(TURN_MS);
  await expect(reading).rejects.toMatchObject({ code: "BODY_TOO_LARGE" });
});
