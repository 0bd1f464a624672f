import { describe, expect, it } from "vitest";
import { importText, jsonLines } from "../support/import-text.js";
import { planted, random } from "../support/planted-secrets.js";

const secretOf = (kind: string, seed: number): string => planted(random(seed)).find((one) => one.kind === kind)?.secret ?? "";

describe("redaction of a session", () => {
  const [first, second] = [secretOf("npm-token", 1), secretOf("npm-token", 2)];
  const messages = [
    { role: "user", content: `Use ${first}, not ${second}.` },
    {
      role: "assistant",
      content: `Using ${first}.`,
      reasoning_content: `It is ${first}.`,
      tool_calls: [{ id: "c", function: { name: "bash", arguments: JSON.stringify({ command: `echo x\n${second}` }) } }],
    },
    { role: "tool", tool_call_id: "c", content: `${second} in /home/quentin/.npmrc` },
  ];

  it("replaces the same secret by the same placeholder in texts, reasoning, calls and results, and counts by kind", async () => {
    const imported = await importText(jsonLines({ messages }));
    const [user, answer] = imported.sessions[0]?.steps ?? [];
    expect(user?.text).toBe("Use <SECRET:npm-token>, not <SECRET:npm-token-2>.");
    expect(answer).toMatchObject({
      text: "Using <SECRET:npm-token>.",
      reasoning: "It is <SECRET:npm-token>.",
      tool_calls: [{ arguments: '{"command":"echo x\\n<SECRET:npm-token-2>"}' }],
      observations: [{ content: "<SECRET:npm-token-2> in /home/dev/.npmrc" }],
    });
    expect(imported.redactions).toEqual([
      { kind: "npm-token", count: 6 },
      { kind: "home-path", count: 1 },
    ]);
  });

  it("leaves no planted secret in what is stored, and calls that were JSON stay JSON", async () => {
    const secrets = planted(random(11));
    const records = secrets.map(({ line }) => ({
      messages: [
        { role: "user", content: line },
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "c", function: { name: "bash", arguments: JSON.stringify({ command: line }) } }],
        },
        { role: "tool", tool_call_id: "c", content: line },
      ],
    }));
    const { sessions } = await importText(jsonLines(...records));
    const stored = JSON.stringify(sessions);
    for (const { secret } of secrets) expect(stored).not.toContain(JSON.stringify(secret).slice(1, -1));
    for (const session of sessions) expect(() => JSON.parse(session.steps[1]?.tool_calls?.[0]?.arguments ?? "")).not.toThrow();
  });
});
