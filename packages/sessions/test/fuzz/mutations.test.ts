import { readFileSync } from "node:fs";
import { Session } from "@imprint/contracts";
import { importSessions, SessionUnreadable } from "@imprint/sessions";
import fc from "fast-check";
import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";
import { PLAIN_SAMPLES, SAMPLES } from "../support/samples.js";

/** `FUZZ_RUNS=10000` tries more; the suite tries a few hundred per format. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 200);
const schema = Compile(Session);

type Mutation = (bytes: Uint8Array) => Uint8Array;
const at = (bytes: Uint8Array, place: number): number => Math.floor(place * bytes.length);
const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const splice = (bytes: Uint8Array, from: number, to: number, insert: Uint8Array): Uint8Array =>
  Uint8Array.from([...bytes.subarray(0, from), ...insert, ...bytes.subarray(Math.max(from, to))]);
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

const SNIPPETS = [
  "null",
  "{}",
  "[]",
  '""',
  "{",
  "}",
  "[",
  "]",
  '"',
  "\\",
  "\n",
  ",",
  ":",
  "NaN",
  "1e999",
  '"\\ud800"',
  "\u0000",
  '{"type":"user"}',
  '"__proto__"',
  '"__proto__":{"x":1},',
  '"toString":1,',
  '"hasOwnProperty":{},',
  '{"toJSON":1}',
  "true",
  "#### ",
  "> ",
  "[".repeat(3000),
];

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(place, fc.nat(255)).map(
    ([where, byte]): Mutation =>
      (bytes) =>
        splice(bytes, at(bytes, where), at(bytes, where) + 1, Uint8Array.of(byte)),
  ),
  fc.tuple(place, place).map(
    ([from, to]): Mutation =>
      (bytes) =>
        splice(bytes, at(bytes, from), at(bytes, to), new Uint8Array(0)),
  ),
  fc.tuple(place, fc.constantFrom(...SNIPPETS)).map(
    ([where, snippet]): Mutation =>
      (bytes) =>
        splice(bytes, at(bytes, where), at(bytes, where), text(snippet)),
  ),
  fc.tuple(place, place, place).map(
    ([from, to, where]): Mutation =>
      (bytes) =>
        splice(bytes, at(bytes, where), at(bytes, where), bytes.slice(at(bytes, from), at(bytes, to))),
  ),
  place.map(
    (end): Mutation =>
      (bytes) =>
        bytes.slice(0, at(bytes, end)),
  ),
);

const WEIRD: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, 0, -1, "", "x", true, [], {}, [null], [[]], { type: "text" }, { role: "user" }),
  fc.jsonValue(),
);

/** The value with one place in it replaced: the shape survives, the types do not. */
function replaceAt(value: unknown, path: readonly number[], by: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== "object" || value === null) return by;
  const keys = Object.keys(value);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return by;
  const inner = replaceAt((value as Record<string, unknown>)[key], rest, by);
  return Array.isArray(value) ? value.map((item, index) => (String(index) === key ? inner : item)) : { ...value, [key]: inner };
}

async function survives(name: string, bytes: Uint8Array): Promise<void> {
  try {
    const { sessions } = await importSessions([{ name, bytes }]);
    for (const session of sessions) expect([...schema.Errors(session)]).toEqual([]);
  } catch (error) {
    if (!(error instanceof SessionUnreadable)) throw error;
  }
}

const options = { numRuns: RUNS };
const TIME = Math.max(60_000, RUNS * 60);

describe.each([...SAMPLES, ...PLAIN_SAMPLES])("a damaged session of $format", ({ name, text: sample }) => {
  const whole = text(sample);

  it("is read or refused, whatever happened to its bytes", { timeout: TIME }, () =>
    fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) =>
        survives(
          name,
          mutations.reduce((bytes, mutate) => mutate(bytes), whole),
        ),
      ),
      options,
    ),
  );

  it("is read or refused, whatever stands where another type should", { timeout: TIME }, () => {
    const isDocument = sample.startsWith("[") || (sample.startsWith("{") && !sample.includes('}\n{"'));
    const records: unknown[] = name.endsWith(".md")
      ? [sample]
      : isDocument
        ? [JSON.parse(sample)]
        : sample
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line) as unknown);
    return fc.assert(
      fc.asyncProperty(fc.nat(records.length - 1), fc.array(fc.nat(30), { maxLength: 6 }), WEIRD, (index, path, by) => {
        const changed = records.map((record, at) => (at === index ? replaceAt(record, path, by) : record));
        return survives(
          name,
          text(changed.map((record) => (typeof record === "string" ? record : JSON.stringify(record))).join("\n")),
        );
      }),
      options,
    );
  });
});

const TABLES = ["messages-as-text.zstd", "trajectory-and-tools.snappy", "ai-turns.gzip", "atif-with-reward.brotli"];

describe.each(TABLES)("a damaged table %s", (table) => {
  const whole = readFileSync(new URL(`../fixtures/${table}.parquet`, import.meta.url));

  it("is read or refused, whatever happened to its bytes", { timeout: TIME }, () =>
    fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) =>
        survives(
          "part-0.parquet",
          mutations.reduce<Uint8Array>((bytes, mutate) => mutate(bytes), whole),
        ),
      ),
      options,
    ),
  );
});

/** The formats whose files are lines: a broken line stands beside the others. */
const LINED = SAMPLES.filter(({ name }) => name.endsWith(".jsonl"));

describe.each(LINED)("broken lines in a session of $format", ({ name, text: sample }) => {
  const lines = sample.trimEnd().split("\n");
  /** A brace would begin an object, which is found in a broken line too. */
  const junk = fc
    .string({ unit: "binary", minLength: 1, maxLength: 60 })
    .filter((one) => /\S/.test(one) && !/[{\n\ufeff]/.test(one));

  it("are counted, and lose no line around them", { timeout: TIME }, async () => {
    const whole = await importSessions([{ name, bytes: text(sample) }]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(lines.length - 1), junk), { minLength: 1, maxLength: 5 }), async (broken) => {
        // After the first line, by which the file shows that it is made of records.
        const damaged = lines.flatMap((line, index) => [line, ...broken.filter(([at]) => at === index).map(([, one]) => one)]);
        const read = await importSessions([{ name, bytes: text(damaged.join("\n")) }]);
        expect(read.sessions.map(({ steps }) => steps)).toEqual(whole.sessions.map(({ steps }) => steps));
        expect(read.bad_lines).toBe(broken.length);
      }),
      options,
    );
  });
});

describe("text that was said", () => {
  const words = fc
    .string({ unit: "binary", minLength: 1, maxLength: 80 })
    .filter((value) => /[a-zA-Z]/.test(value) && !/[<@/#>[]|C:|:\/\//.test(value));

  it("is preserved to the letter by every format that holds it", async () => {
    const samples = SAMPLES.map((sample) => ({ ...sample, probe: JSON.stringify("Trimmed «-».").slice(1, -1) }));
    await fc.assert(
      fc.asyncProperty(words, async (said) => {
        for (const { name, text: sample, probe } of samples) {
          const changed = sample.split(probe).join(JSON.stringify(said).slice(1, -1));
          const { sessions } = await importSessions([{ name, bytes: text(changed) }]);
          expect(sessions[0]?.steps.at(-1)?.text).toBe(said);
        }
      }),
      { numRuns: Math.min(RUNS, 200) },
    );
  });
});
