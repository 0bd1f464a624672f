import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { importSessions, LIMITS, SessionUnreadable } from "@imprint/sessions";
import { describe, expect, it } from "vitest";
import { decompress } from "../../src/source/decompress.js";
import { SAMPLES } from "../support/samples.js";

const log = SAMPLES.find((sample) => sample.format === "claude-code")?.text ?? "";
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A zstd frame of blocks that repeat a character (RFC 8878, section 3.1.1.2): Node 20 makes none. */
const zstdOf = (
  character: string,
  timesEach: number,
  { blocks = 3, size }: { readonly blocks?: number; readonly size?: number } = {},
): Uint8Array => {
  const written = Buffer.alloc(4);
  written.writeUInt32LE(size ?? blocks * timesEach);
  const block = (isLast: boolean): Buffer => {
    const header = Buffer.alloc(4);
    header.writeUInt32LE((timesEach << 3) | (1 << 1) | Number(isLast));
    return Buffer.concat([header.subarray(0, 3), Buffer.from(character)]);
  };
  const all = Array.from({ length: blocks }, (_, at) => block(at === blocks - 1));
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0]), written, ...all]);
};

/** Counts what is pulled, so that a test sees how much an import reads before it gives up. */
function endless(piece: string): { readonly bytes: AsyncGenerator<Uint8Array>; pulled(): number } {
  let pulled = 0;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      pulled += piece.length;
      yield encode(piece);
    }
  }
  return { bytes: pieces(), pulled: () => pulled };
}

describe("limits", () => {
  it("refuses an endless line without reading on", async () => {
    const { bytes, pulled } = endless("x".repeat(10_000));
    const refused = importSessions([{ name: "a.jsonl", bytes }], { limits: { ...LIMITS, line: 1_000_000 } });
    await expect(refused).rejects.toThrow(/Line 1 of a\.jsonl is longer than 1000000 bytes/);
    expect(pulled()).toBeLessThan(1_100_000);
  });

  it("refuses an endless file, of blank lines too", async () => {
    const { bytes } = endless("\n".repeat(10_000));
    const refused = importSessions([{ name: "a.jsonl", bytes }], { limits: { ...LIMITS, decoded: 1_000_000 } });
    await expect(refused).rejects.toBeInstanceOf(SessionUnreadable);
  });

  it("refuses a small file of very many conversations before they are worked on", async () => {
    const line = '{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}\n';
    const { bytes, pulled } = endless(line.repeat(100));
    await expect(importSessions([{ name: "a.jsonl", bytes }])).rejects.toThrow(/more than 10000 conversations; split it/);
    expect(pulled()).toBeLessThan(1.1 * 10_000 * line.length);
  });

  it.each([
    ["gzip", gzipSync("\n".repeat(128_000))],
    ["zstd", zstdOf("\n", 128_000)],
  ])("refuses a %s file that holds far more than its size", async (_name, packed) => {
    const limits = { ...LIMITS, unpackedFreely: 100_000 };
    const refused = importSessions([{ name: "a.jsonl", bytes: packed }], { limits });
    await expect(refused).rejects.toThrow(/a\.jsonl holds more than 200 times the bytes that it has/);
  });

  it("holds little of a zstd file of very many blocks at once, in whatever pieces it comes", async () => {
    const packed = zstdOf("\n", 100_000, { blocks: 5000, size: 100_000 });
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for await (const _ of decompress(Readable.from([packed]), "a.jsonl", { ...LIMITS, ratio: 1e6 }))
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    expect(most).toBeLessThan(400_000_000);
  });

  it("refuses a zstd file that asks for a window of two gigabytes", async () => {
    const packed = zstdOf("\n", 100, { size: 2_000_000_000 });
    await expect(importSessions([{ name: "a.jsonl", bytes: packed }])).rejects.toThrow(/a\.jsonl needs a zstd window of more/);
  });

  it("reads a compressed recording that repeats itself, as recordings do", async () => {
    const limits = { ...LIMITS, unpackedFreely: 0 };
    const { sessions } = await importSessions([{ name: "a.jsonl", bytes: gzipSync(log) }], { limits });
    expect(sessions).toHaveLength(1);
  });

  it("gives up on a log in which no record is a session's", async () => {
    const { bytes } = endless('{"level":"info"}\n');
    await expect(importSessions([{ name: "a.jsonl", bytes }])).rejects.toThrow(/first 10000 records/);
  });

  it("shortens tool outputs in their middle once they are too many, and says so", async () => {
    const record = {
      messages: [
        { role: "user", content: "q" },
        { role: "assistant", content: "", tool_calls: [{ id: "c", function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "c", content: `BEGIN${"x".repeat(20_000)}END` },
      ],
    };
    const text = `${JSON.stringify(record)}\n`.repeat(3);
    const imported = await importSessions([{ name: "a.jsonl", bytes: encode(text) }], { limits: { ...LIMITS, outputs: 30_000 } });
    const outputs = imported.sessions.map((session) => session.steps[1]?.observations?.[0]?.content ?? "");
    expect(outputs[0]).toHaveLength(20_008);
    expect(outputs[2]).toMatch(/^BEGINx+\n\[18008 characters left out\]\nx+END$/);
    expect(imported.warnings).toHaveLength(1);
    expect(imported.counts.tool_results).toBe(3);
  });

  it("keeps every word and call of the model, however much its tools gave out", async () => {
    const turn = (index: number): string =>
      [
        {
          type: "assistant",
          message: {
            id: `m${index}`,
            content: [
              { type: "text", text: `Answer ${index}.` },
              { type: "tool_use", id: `c${index}`, name: "f", input: { index } },
            ],
          },
        },
        {
          type: "user",
          message: { content: [{ type: "tool_result", tool_use_id: `c${index}`, content: `${index} ${"x".repeat(5000)} end` }] },
        },
      ]
        .map((line, at) =>
          JSON.stringify({
            ...line,
            sessionId: "s",
            uuid: `u${index}-${at}`,
            parentUuid: at === 1 ? `u${index}-0` : index === 0 ? null : `u${index - 1}-1`,
          }),
        )
        .join("\n");
    const bytes = encode(Array.from({ length: 200 }, (_, index) => turn(index)).join("\n"));
    const { sessions, counts, warnings } = await importSessions([{ name: "a.jsonl", bytes }], {
      limits: { ...LIMITS, outputs: 20_000, text: 10_000 },
    });
    expect(counts).toEqual({ user_turns: 0, assistant_turns: 200, tool_calls: 200, tool_results: 200 });
    const steps = sessions[0]?.steps ?? [];
    expect(steps.map((step) => step.text)).toEqual(Array.from({ length: 200 }, (_, index) => `Answer ${index}.`));
    expect(steps.at(-1)?.observations?.[0]?.content).toBe("[5008 characters left out]");
    expect(steps.flatMap((step) => step.observations ?? []).reduce((sum, one) => sum + one.content.length, 0)).toBeLessThan(
      50_000,
    );
    expect(warnings).toHaveLength(1);
  });

  it("refuses more text than it keeps, unless sessions are taken one by one", async () => {
    const text = `${JSON.stringify({
      messages: [
        { role: "user", content: "q" },
        { role: "assistant", content: "a".repeat(5000) },
      ],
    })}\n`.repeat(500);
    const limits = { ...LIMITS, text: 1_500_000 };
    await expect(importSessions([{ name: "a.jsonl", bytes: encode(text) }], { limits })).rejects.toThrow(
      /is more than one import keeps/,
    );
    let count = 0;
    const imported = await importSessions([{ name: "a.jsonl", bytes: encode(text) }], { limits, onSession: () => void count++ });
    expect([count, imported.session_count]).toEqual([500, 500]);
  });

  it("reads a log of many parallel branches and long chains in little time", async () => {
    const line = (index: number, parent: number | null): string =>
      JSON.stringify({
        type: "user",
        uuid: `u${index}`,
        parentUuid: parent === null ? null : `u${parent}`,
        sessionId: "s",
        message: { role: "user", content: `turn ${index}` },
      });
    const chain = Array.from({ length: 20_000 }, (_, index) => line(index, index === 0 ? null : index - 1));
    const fan = Array.from({ length: 20_000 }, (_, index) => line(index, index === 0 ? null : 0));
    const start = performance.now();
    expect((await importSessions([{ name: "a", bytes: encode(chain.join("\n")) }])).counts.user_turns).toBe(20_000);
    expect((await importSessions([{ name: "a", bytes: encode(fan.join("\n")) }])).counts.user_turns).toBe(2);
    // At every line of the chain one more continuation: each fork holds all later forks.
    const forks = chain.flatMap((one, index) => [one, line(100_000 + index, index)]);
    expect((await importSessions([{ name: "a", bytes: encode(forks.join("\n")) }])).counts.user_turns).toBe(20_001);
    expect(performance.now() - start).toBeLessThan(8000);
  });

  it.each([
    ["reminders that never end", "<system-reminder>".repeat(60_000)],
    ["commands that never end", `<command-name>${"<command-args>".repeat(60_000)}`],
    ["space before a reminder", `${" ".repeat(300_000)}x</system-reminder>`],
    ["quoted arguments", `<functioncall> {"name": "f", ${'"arguments": \''.repeat(30_000)}`],
    ["quotes that never end, and NaN", `{"a": NaN ${'\\"'.repeat(200_000)}`],
    ["backticks", "` ".repeat(400_000)],
  ])("reads %s in little time", async (_, text) => {
    const records = [
      { type: "user", uuid: "u", sessionId: "s", message: { role: "user", content: text } },
      {
        type: "user",
        uuid: "r",
        sessionId: "s",
        message: { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: text }] },
      },
    ];
    const glaive = { system: "SYSTEM: help", chat: `USER: hello\n\n\nASSISTANT: ${text} <|endoftext|>` };
    const native = { task_description: "t", steps: [{ generated_code: text, exit_code: 0 }] };
    const start = performance.now();
    for (const file of [
      `${records.map((one) => JSON.stringify(one)).join("\n")}\n${text}`,
      JSON.stringify(glaive),
      JSON.stringify(native),
    ])
      await importSessions([{ name: "a", bytes: encode(file) }]).catch((error: unknown) =>
        expect(error).toBeInstanceOf(SessionUnreadable),
      );
    expect(performance.now() - start).toBeLessThan(8000);
  });

  it("follows a log whose first line is torn", async () => {
    const imported = await importSessions([{ name: "a", bytes: encode(log.slice(10)) }]);
    expect(imported.bad_lines).toBe(1);
    expect(imported.counts.assistant_turns).toBe(3);
  });
});
