import { gzipSync } from "node:zlib";
import { importSessions, redactRecording } from "@imprint/sessions";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planted, random } from "../support/planted-secrets.js";

const file = (text: string | Uint8Array, name = "a.jsonl") => ({ name, bytes: Buffer.from(text) });
const redacted = async (text: string): Promise<string> => (await redactRecording([file(text)])).texts[0] ?? "";

const TOKEN = `ghp_${"a1B2c3D4e5F6g7H8i9".repeat(2)}`;

/** What a value is made of, whatever its strings and names say. */
const shapeOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(shapeOf)
    : typeof value === "object" && value !== null
      ? Object.values(value).map(shapeOf)
      : typeof value;

describe("redactRecording", () => {
  it("changes nothing of JSON but its strings", async () => {
    const text = `{"role": "user",  "content": "take ${TOKEN}", "n": 12345678901234567890, "x": 1.50}\r\n\r\n{"a":[1,null]}\n`;
    expect(await redacted(text)).toBe(text.replace(TOKEN, "<SECRET:github-token>"));
  });

  it("takes secrets out of names of fields too", async () => {
    expect(JSON.parse(await redacted(JSON.stringify({ byKey: { [TOKEN]: 1 } })))).toEqual({
      byKey: { "<SECRET:github-token>": 1 },
    });
  });

  it("judges a value by the name of its field, and takes its copies everywhere", async () => {
    const lines = ['{"said": "is tiger-river-7 right?"}', '{"input": {"db_password": "tiger-river-7"}}'];
    expect(await redacted(lines.join("\n"))).toBe(
      '{"said": "is <SECRET:password> right?"}\n{"input": {"db_password": "<SECRET:password>"}}',
    );
  });

  it("counts what stands in the copy, each once", async () => {
    const { texts, redactions } = await redactRecording([
      file(JSON.stringify({ password: "tiger-river-7", again: "tiger-river-7" })),
    ]);
    expect(texts[0]?.match(/<SECRET:password>/g)).toHaveLength(2);
    expect(redactions).toEqual([{ kind: "password", count: 2 }]);
  });

  it("gives the same secret the same name in all files of a recording", async () => {
    const { texts } = await redactRecording([file(JSON.stringify([TOKEN])), file(JSON.stringify({ a: TOKEN }))]);
    expect(texts).toEqual(['["<SECRET:github-token>"]', '{"a":"<SECRET:github-token>"}']);
  });

  it("reads torn lines, text, gzip and UTF-16", async () => {
    expect(await redacted(`{"a": "b"}\n{"a": "${TOKEN} and no en`)).toBe('{"a": "b"}\n{"a": "<SECRET:github-token> and no en');
    expect(await redacted(`# aider chat started\n\n> ${TOKEN}\n`)).toBe("# aider chat started\n\n> <SECRET:github-token>\n");
    const expected = ['{"a":"<SECRET:github-token>"}'];
    const text = JSON.stringify({ a: TOKEN });
    expect((await redactRecording([file(gzipSync(text), "a.jsonl.gz")])).texts).toEqual(expected);
    expect((await redactRecording([file(Buffer.from(`\ufeff${text}`, "utf16le"))])).texts).toEqual(expected);
  });

  it("refuses archives with a sentence", async () => {
    await expect(redactRecording([file("PK\u0003\u0004", "a.json")])).rejects.toThrow(/a\.json is a ZIP archive/);
  });

  it("leaves JSON of the same shape without any planted secret, which imports with nothing left to redact", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.boolean(), async (seed, isPretty) => {
        const secrets = planted(random(seed)).slice(0, 12);
        const messages = secrets.flatMap(({ line }) => [
          { role: "user", content: `Look:\n${line}\n` },
          { role: "assistant", content: JSON.stringify({ said: line }) },
        ]);
        const original = isPretty ? JSON.stringify({ messages }, null, 2) : `${JSON.stringify({ messages })}\n`;
        const copy = await redacted(original);
        expect(shapeOf(JSON.parse(copy))).toEqual(shapeOf(JSON.parse(original)));
        const leaked = secrets.filter(({ secret }) => copy.includes(JSON.stringify(secret).slice(1, -1)));
        expect(leaked).toEqual([]);
        expect((await importSessions([file(copy)])).redactions).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });
});
