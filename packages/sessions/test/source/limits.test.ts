import { importSessions, LIMITS, SessionUnreadable } from "@imprint/sessions";
import { describe, expect, it } from "vitest";
import { SAMPLES } from "../support/samples.js";

const log = SAMPLES.find((sample) => sample.format === "claude-code")?.text ?? "";
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

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

  it("refuses more text than it keeps, unless sessions are taken one by one", async () => {
    const text = `${JSON.stringify({
      messages: [
        { role: "user", content: "q" },
        { role: "assistant", content: "a".repeat(5000) },
      ],
    })}\n`.repeat(500);
    const limits = { ...LIMITS, text: 1_500_000 };
    await expect(importSessions([{ name: "a.jsonl", bytes: encode(text) }], { limits })).rejects.toThrow(
      /more text than one import keeps/,
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
    expect(performance.now() - start).toBeLessThan(8000);
  });

  it("follows a log whose first line is torn", async () => {
    const imported = await importSessions([{ name: "a", bytes: encode(log.slice(10)) }]);
    expect(imported.bad_lines).toBe(1);
    expect(imported.counts.assistant_turns).toBe(3);
  });
});
