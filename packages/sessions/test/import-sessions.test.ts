import { gzipSync } from "node:zlib";
import { Session } from "@imprint/contracts";
import { importSessions, inspectReport, SessionUnreadable, summarize } from "@imprint/sessions";
import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";
import { CALL, FIRST_ANSWER, LAST_ANSWER, RESULT, SECOND_ANSWER, SECOND_TASK, TASK } from "./support/conversation.js";
import { answersOf, countsOf, importText, jsonLines, usersOf } from "./support/import-text.js";
import { PLAIN_SAMPLES, SAMPLES } from "./support/samples.js";

const schema = Compile(Session);

describe.each(SAMPLES)("a session of $format", ({ format, name, text, users = [TASK, SECOND_TASK] }) => {
  it("is recognised and counted", async () => {
    const imported = await importText(text, {}, name);
    expect(imported.format).toBe(format);
    expect(countsOf(imported)).toEqual([users.length, 3, 1, 1]);
    expect(imported.bad_lines).toBe(0);
  });

  it("keeps every word of the person and the model, and the call with its result", async () => {
    const imported = await importText(text, {}, name);
    expect(usersOf(imported)).toEqual(users);
    expect(answersOf(imported)).toEqual([FIRST_ANSWER, LAST_ANSWER, SECOND_ANSWER]);
    const [step] = imported.sessions[0]?.steps.filter((one) => one.tool_calls !== undefined) ?? [];
    expect(step?.text).toBe(FIRST_ANSWER);
    expect(step?.tool_calls).toMatchObject([{ name: CALL.name, arguments: CALL.arguments }]);
    expect(step?.observations).toMatchObject([{ call_id: step?.tool_calls?.[0]?.id, content: RESULT }]);
  });
});

describe.each([...SAMPLES, ...PLAIN_SAMPLES])("any session of $format", ({ format, name, text }) => {
  it("fits the contract's schema", async () => {
    const { sessions } = await importText(text, {}, name);
    expect(sessions).toHaveLength(1);
    expect([...schema.Errors(sessions[0])]).toEqual([]);
  });

  it("gets the same id and content each time", async () => {
    const [first, second] = [await importText(text, {}, name), await importText(text, {}, name)];
    expect(second).toEqual(first);
  });

  it("is read the same from gzip, from single bytes and under a forced format", async () => {
    const bytes = new TextEncoder().encode(text);
    const plain = await importText(text, {}, name);
    const steps = plain.sessions[0]?.steps;
    async function* dripping(): AsyncGenerator<Uint8Array> {
      for (const byte of bytes) yield Uint8Array.of(byte);
    }
    const zipped = await importSessions([{ name, bytes: gzipSync(bytes) }]);
    const dripped = await importSessions([{ name, bytes: dripping() }]);
    const forced = await importText(text, { format }, name);
    expect(zipped.sessions[0]?.steps).toEqual(steps);
    expect(dripped).toEqual(plain);
    expect(forced).toEqual(plain);
  });

  it("survives Windows line ends, a byte-order mark and UTF-16", async () => {
    const steps = (await importText(text, {}, name)).sessions[0]?.steps;
    if (format !== "aider") expect((await importText(text.replaceAll("\n", "\r\n"), {}, name)).sessions[0]?.steps).toEqual(steps);
    expect((await importText(`\ufeff${text}`, {}, name)).sessions[0]?.steps).toEqual(steps);
    const wide = await importSessions([{ name, bytes: Buffer.from(`\ufeff${text}`, "utf16le") }]);
    expect(wide.sessions[0]?.steps).toEqual(steps);
  });
});

describe("importSessions", () => {
  const chatFile = jsonLines(
    ...["one", "two", "three"].map((word) => ({
      messages: [
        { role: "user", content: word },
        { role: "assistant", content: `${word}!` },
      ],
    })),
  );

  it("numbers the conversations of a file from a common id", async () => {
    const { sessions, file_id } = await importText(chatFile);
    expect(sessions.map((session) => session.session_id)).toEqual([1, 2, 3].map((n) => `${file_id}-${n}`));
  });

  it("hands conversations over one by one, the same as in a list", async () => {
    const listed = await importText(chatFile);
    const taken: unknown[] = [];
    const imported = await importSessions(
      [
        {
          name: "session.jsonl",
          bytes: async function* () {
            yield new TextEncoder().encode(chatFile);
          },
        },
      ],
      { onSession: (session) => void taken.push(session) },
    );
    expect(taken).toEqual(listed.sessions);
    expect(imported.sessions).toEqual([]);
    expect(inspectReport(imported)).toEqual(inspectReport(listed));
  });

  it("takes the outcome that the caller knows", async () => {
    const { sessions } = await importText(SAMPLES[0]?.text ?? "", { outcome: "success" });
    expect(sessions[0]?.outcome).toBe("success");
  });

  it("reads a list of records spread over lines, and a list on one line", async () => {
    const records = chatFile
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    for (const text of [
      JSON.stringify(records),
      JSON.stringify(records, null, 2),
      `[\n${chatFile.trim().split("\n").join(",\n")}\n]`,
    ])
      expect(countsOf(await importText(text))).toEqual([3, 3, 0, 0]);
  });

  it("counts junk lines and loses nothing around them", async () => {
    const [first = "", second = "", third = ""] = chatFile.trim().split("\n");
    const glued = `${first}${second}\n42\n\n[1]\n"text"\n${third.slice(0, 20)}`;
    const imported = await importText(glued);
    expect(imported.bad_lines).toBe(5);
    expect(countsOf(imported)).toEqual([2, 2, 0, 0]);
    expect((await importText(`${first.slice(0, 40)}${second}\n${third}`)).counts.user_turns).toBe(2);
  });

  it("reads the NaN and Infinity that Python writes", async () => {
    const text = `{"messages":[{"role":"user","content":"NaN is \\"Infinity\\""},{"role":"assistant","content":"ok"}],"cost":NaN,"more":[-Infinity]}`;
    const imported = await importText(text);
    expect(usersOf(imported)).toEqual(['NaN is "Infinity"']);
    expect(imported.bad_lines).toBe(0);
  });

  it.each([
    ["nothing", ""],
    ["prose", "Dear diary,\nnothing happened.\n"],
    ["other JSON", '{"name":"x","version":"1.0.0"}\n'],
    ["a log of other objects", jsonLines({ level: "info", msg: "a" }, { level: "info", msg: "b" })],
    ["a header without messages", jsonLines({ timestamp: "2026-01-01T00:00:00Z", type: "session_meta", payload: { id: "x" } })],
  ])("refuses %s with a sentence", async (_, text) => {
    const refused = importText(text);
    await expect(refused).rejects.toBeInstanceOf(SessionUnreadable);
    await expect(refused).rejects.toMatchObject({ code: "SESSION_UNREADABLE" });
    await expect(refused).rejects.toThrow(/\.$/);
  });

  it("says what it looked for", async () => {
    await expect(importText("{}")).rejects.toThrow(/claude-code.*codex.*aider/s);
  });

  it("refuses damaged compression, and keeps what a torn gzip file still holds", async () => {
    await expect(
      importSessions([{ name: "a.zst", bytes: Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3, 4, 5) }]),
    ).rejects.toBeInstanceOf(SessionUnreadable);
    await expect(
      importSessions([{ name: "a.gz", bytes: Uint8Array.of(0x1f, 0x8b, 8, 0, 9, 9, 9, 9, 9, 9, 9, 9) }]),
    ).rejects.toBeInstanceOf(SessionUnreadable);
    const whole = gzipSync(chatFile.repeat(2000));
    const torn = await importSessions([{ name: "a.gz", bytes: whole.subarray(0, whole.length - 20) }]);
    expect(torn.counts.user_turns).toBeGreaterThan(5000);
  });
});

describe("summarize", () => {
  it("gives the first request on one line, shortened", async () => {
    const text = jsonLines({
      messages: [
        { role: "user", content: `Do\n\n  ${"this ".repeat(100)}` },
        { role: "assistant", content: "ok" },
      ],
    });
    const [session] = (await importText(text)).sessions;
    const { task } = summarize(session as NonNullable<typeof session>);
    expect(task).toMatch(/^Do this this .*…$/);
    expect(task.length).toBe(200);
  });
});

it.each([
  ["what the agent says and calls after the task", ["system", "user", "agent", "agent"], 2],
  ["nothing before the task", ["agent", "user", "agent"], 1],
  ["what follows the system's text, where no user speaks", ["system", "agent"], 1],
  ["nothing without a task", ["agent"], 0],
] as const)("counts as trainable %s", (_, sources, expected) => {
  const steps = sources.map((source) => ({ source, text: "x" }));
  const context = { source: "agent", text: "x", context_only: "failed" } as const;
  expect(summarize({ source: {}, steps: [...steps, context, { source: "agent", text: " " }] } as never).trainable_turns).toBe(
    expected,
  );
});
