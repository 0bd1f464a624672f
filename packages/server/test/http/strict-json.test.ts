import fc from "fast-check";
import { expect, test } from "vitest";
import { ProblemError } from "../../src/common/error.js";
import { parseStrictJson } from "../../src/http/strict-json.js";

const parse = (text: string): unknown => parseStrictJson(Buffer.from(text));
const FORBIDDEN = /"__proto__"/;

test("reads every value as JSON.parse does", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!FORBIDDEN.test(text));
      expect(parse(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("refuses a key that stands twice in one object, however it is spelled, and nowhere else", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.jsonValue(), (key, value) => {
      const escaped = `"${[...key].map((character) => [...Array(character.length).keys()].map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")).join("")}"`;
      const text = JSON.stringify(value);
      fc.pre(!FORBIDDEN.test(JSON.stringify(key)) && !FORBIDDEN.test(text));
      const once = JSON.stringify(key);
      expect(() => parse(`{${once}:${text},${escaped}:1}`)).toThrow(ProblemError);
      expect(parse(`[{${once}:${text}},{${escaped}:1}]`)).toHaveLength(2);
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
])("%s is fine", (text) => {
  expect(parse(text)).toEqual(JSON.parse(text));
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
])("%s is refused", (text) => {
  expect(() => parse(text)).toThrow(ProblemError);
});

test("a large body takes a small multiple of the time of JSON.parse", () => {
  const keys = `{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":1`).join(",")}}`;
  const time = (run: () => unknown): number => {
    const begin = performance.now();
    run();
    return performance.now() - begin;
  };
  const best = (run: () => unknown): number => Math.min(...Array.from({ length: 5 }, () => time(run)));
  const plain = best(() => JSON.parse(keys));
  expect(best(() => parse(keys))).toBeLessThan(10 * plain);
  const nested = "[".repeat(500_000) + "]".repeat(500_000);
  expect(best(() => expect(() => parse(nested)).toThrow(ProblemError))).toBeLessThan(10 * plain);
});
