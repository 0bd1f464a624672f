import { expect, it } from "vitest";
import { factsOf, toldFolder } from "../src/facts.js";
import { importCase, importText, jsonLines } from "./support/import-text.js";

const at = (second: number): string => `2026-03-04T05:06:${String(second).padStart(2, "0")}.000Z`;
const says = (role: string, content: string): object => ({ role, content });

/** A recording of each agent as it writes one, and what it says of where it was made. */
const RECORDINGS: Readonly<Record<string, readonly [string, object]>> = {
  "Claude Code": [
    jsonLines(
      ...["user", "assistant"].map((type, n) => ({
        ...{ type, uuid: `u${n}`, parentUuid: n === 0 ? null : "u0", sessionId: "claude-1", timestamp: at(n) },
        ...{ cwd: n === 0 ? "/srv/billing-api" : "/srv/billing-api/src", gitBranch: n === 0 ? "main" : "fix/rounding" },
        message: { role: type, content: "Round it.", id: `m${n}`, model: "claude-x" },
      })),
    ),
    { folder: "/srv/billing-api", repository: "billing-api", branch: "fix/rounding", model: "claude-x" },
  ],
  "claude -p": [
    jsonLines(
      { type: "system", subtype: "init", cwd: "/srv/billing-api", session_id: "p-1", tools: [], model: "claude-x" },
      { type: "user", session_id: "p-1", parent_tool_use_id: null, message: says("user", "Round it.") },
      { type: "assistant", session_id: "p-1", parent_tool_use_id: null, message: says("assistant", "Done.") },
    ),
    { folder: "/srv/billing-api", repository: "billing-api", model: "claude-x" },
  ],
  Codex: [
    jsonLines(
      {
        ...{ timestamp: at(0), type: "session_meta" },
        payload: {
          ...{ id: "codex-1", cwd: "/tmp/checkout-7", model_provider: "openai", cli_version: "0.142.0" },
          git: { branch: "main", repository_url: "https://user:token@git.example.com/shop/billing-api.git" },
        },
      },
      { timestamp: at(1), type: "turn_context", payload: { cwd: "/tmp/checkout-7", model: "gpt-x" } },
      {
        ...{ timestamp: at(2), type: "response_item" },
        payload: { type: "message", role: "user", content: [{ type: "input_text", text: "Round it." }] },
      },
      {
        ...{ timestamp: at(3), type: "response_item" },
        payload: { type: "message", role: "assistant", content: [{ type: "output_text", text: "Done." }] },
      },
    ),
    { folder: "/tmp/checkout-7", repository: "billing-api", branch: "main", provider: "openai", model: "gpt-x" },
  ],
  "Codex of before its header named the folder": [
    jsonLines(
      {
        id: "codex-0",
        timestamp: at(0),
        instructions: null,
        git: { branch: "main", repository_url: "git@git.example.com:shop/billing-api" },
      },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "<environment_context>\n  <cwd>/srv/w</cwd>\n</environment_context>" }],
      },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Round it." }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Done." }] },
    ),
    { folder: "/srv/w", repository: "billing-api", branch: "main" },
  ],
  opencode: [
    JSON.stringify({
      info: { id: "ses_1", version: "1.1", directory: "/srv/billing-api", time: { created: 1_772_600_766_000 } },
      messages: [
        { info: { id: "m1", sessionID: "ses_1", role: "user", time: {} }, parts: [{ type: "text", text: "Round it." }] },
        {
          info: { id: "m2", sessionID: "ses_1", role: "assistant", modelID: "gates-v1", providerID: "imprint", time: {} },
          parts: [{ type: "text", text: "Done." }],
        },
      ],
    }),
    { folder: "/srv/billing-api", repository: "billing-api", provider: "imprint", model: "gates-v1" },
  ],
  "opencode 2": [
    jsonLines(
      { id: "ses_2", projectID: "p", version: "2.0", directory: "/srv/billing-api", time: { created: 1_772_600_766_000 } },
      { id: "m1", type: "user", sessionID: "ses_2", text: "Round it.", time: { created: 1_772_600_766_000 } },
      {
        ...{ id: "m2", type: "assistant", sessionID: "ses_2", model: { id: "gates-v1", providerID: "imprint" } },
        ...{ content: [{ type: "text", text: "Done." }], time: { created: 1_772_600_767_000 } },
      },
    ),
    { folder: "/srv/billing-api", repository: "billing-api", provider: "imprint", model: "gates-v1" },
  ],
  "Qwen Code": [
    jsonLines(
      ...["user", "assistant"].map((type, n) => ({
        ...{
          type,
          uuid: `u${n}`,
          parentUuid: n === 0 ? null : "u0",
          sessionId: "qwen-1",
          cwd: "/srv/billing-api",
          gitBranch: "main",
        },
        ...{ model: "qwen-x", timestamp: at(n), message: { role: type, parts: [{ text: "Round it." }] } },
      })),
    ),
    { folder: "/srv/billing-api", repository: "billing-api", branch: "main", model: "qwen-x" },
  ],
  Cline: [
    JSON.stringify({
      messages: [
        says(
          "user",
          "<task>\nRound it.\n</task>\n<environment_details>\n# Current Working Directory (/srv/billing-api) Files\na.ts\n</environment_details>",
        ),
        { ...says("assistant", "Done."), modelInfo: { modelId: "claude-x", providerId: "anthropic" } },
      ],
    }),
    { folder: "/srv/billing-api", repository: "billing-api", provider: "anthropic", model: "claude-x" },
  ],
  Continue: [
    JSON.stringify({
      ...{ sessionId: "continue-1", workspaceDirectory: "file:///srv/billing%20api" },
      history: [{ message: says("user", "Round it.") }, { message: { ...says("assistant", "Done."), usage: { model: "m" } } }],
    }),
    { folder: "/srv/billing api", repository: "billing api", model: "m" },
  ],
  "Copilot CLI": [
    jsonLines(
      {
        ...{ type: "session.start", id: "e0", parentId: null, timestamp: at(0) },
        data: {
          sessionId: "cop-1",
          copilotVersion: "1",
          context: { cwd: "/tmp/7", repository: "shop/billing-api", branch: "main" },
        },
      },
      { type: "user.message", id: "e1", parentId: "e0", timestamp: at(1), data: { content: "Round it." } },
      {
        ...{ type: "assistant.message", id: "e2", parentId: "e1", timestamp: at(2) },
        data: { messageId: "m", content: "Done.", toolRequests: [], model: "m" },
      },
    ),
    { folder: "/tmp/7", repository: "billing-api", branch: "main", model: "m" },
  ],
  Cursor: [
    jsonLines(
      {
        composerId: "cur-1",
        createdAt: 1_772_600_766_000,
        createdOnBranch: "main",
        fullConversationHeadersOnly: [{ bubbleId: "a" }, { bubbleId: "b" }],
      },
      { bubbleId: "a", type: 1, text: "Round it.", workspaceUris: ["file:///srv/billing-api"] },
      { bubbleId: "b", type: 2, text: "Done.", modelInfo: { modelName: "m" } },
    ),
    { folder: "/srv/billing-api", repository: "billing-api", branch: "main", model: "m" },
  ],
  aider: [
    "# aider chat started at 2026-03-04 05:06:00\n\n> Aider v0.1.0  \n> Models: m, weak  \n> Git working dir: /srv/billing-api  \n\n#### Round it.  \n\nDone.\n",
    { folder: "/srv/billing-api", repository: "billing-api" },
  ],
  pi: [
    jsonLines(
      { type: "session", version: 3, id: "pi-1", cwd: "/srv/billing-api", timestamp: at(0) },
      { type: "message", id: "a", parentId: null, message: says("user", "Round it.") },
      {
        ...{ type: "message", id: "b", parentId: "a" },
        message: { role: "assistant", content: [{ type: "text", text: "Done." }], provider: "imprint", model: "gates-v1" },
      },
    ),
    { folder: "/srv/billing-api", repository: "billing-api", provider: "imprint", model: "gates-v1" },
  ],
  ATIF: [
    JSON.stringify({
      ...{ schema_version: "ATIF-v1.5", session_id: "atif-1" },
      agent: { name: "a", version: "1", model_name: "m", extra: { cwds: ["/srv/billing-api"], git_branches: ["main"] } },
      steps: [
        { step_id: 1, source: "user", message: "Round it." },
        { step_id: 2, source: "agent", message: "Done." },
      ],
    }),
    { folder: "/srv/billing-api", repository: "billing-api", branch: "main", model: "m" },
  ],
  "OpenHands V1": [
    jsonLines(
      { id: "oh-1", agent: { llm: { model: "m" } }, workspace: { working_dir: "/srv/billing-api" }, max_iterations: 9 },
      { kind: "MessageEvent", id: "1", source: "user", llm_message: { content: [{ type: "text", text: "Round it." }] } },
      { kind: "MessageEvent", id: "2", source: "agent", llm_message: { content: [{ type: "text", text: "Done." }] } },
    ),
    { folder: "/srv/billing-api", repository: "billing-api", model: "m" },
  ],
  "SWE-agent": [
    JSON.stringify({
      trajectory: [{ action: "ls", observation: "", response: "I look.", state: '{"working_dir": "/shop__billing-api"}' }],
      history: [says("user", "Round it."), says("assistant", "Done.")],
      info: {},
    }),
    { folder: "/shop__billing-api", repository: "shop__billing-api" },
  ],
  "mini-SWE-agent": [
    JSON.stringify({
      info: { mini_version: "1", config: { model: { model_name: "m" }, environment: { cwd: "/srv/billing-api" } } },
      messages: [says("user", "Round it."), says("assistant", "Done.")],
    }),
    { folder: "/srv/billing-api", repository: "billing-api", model: "m" },
  ],
  "the service": [
    JSON.stringify({
      ...{ recorded_by: "imprint", version: 1, session_id: "rec-1", started_at: at(0), agent: "claude-code", model: "gates-v1" },
      messages: [
        says("system", "Working directory: /srv/billing-api\nPlatform: linux"),
        says("user", "Round it."),
        says("assistant", "Done."),
      ],
      ...{ tools: [], answered: [2], cut: [] },
    }),
    { folder: "/srv/billing-api", repository: "billing-api", model: "gates-v1" },
  ],
};

it.each(Object.entries(RECORDINGS))("reads where a session of %s was recorded", async (_agent, [text, facts]) => {
  const { sessions } = await importText(text);
  expect(sessions[0]?.source).toMatchObject(facts);
});

it("says nothing of where a session was recorded that does not say it", async () => {
  const { sessions } = await importText(JSON.stringify({ messages: [says("user", "Round it."), says("assistant", "Done.")] }));
  expect(Object.keys(sessions[0]?.source ?? {})).toEqual(["format", "format_version", "agent", "model", "sha256"]);
});

it("takes a fork's own words for where it was recorded", async () => {
  const { sessions } = await importCase("codex-fork.jsonl");
  expect(sessions[0]?.source).toMatchObject({ folder: "/srv/tide", repository: "tide" });
});

it.each([
  [{ remote: "https://git.example.com/a/shop.git" }, "shop"],
  [{ remote: "ssh://git@git.example.com:22/a/shop/" }, "shop"],
  [{ remote: "git@git.example.com:shop.git" }, "shop"],
  [{ remote: "C:\\git\\shop.git" }, "shop"],
  [{ remote: "https://user:token@git.example.com", folder: "/srv/b" }, "b"],
  [{ remote: 7, folder: "/srv/b/" }, "b"],
  [{ folder: "C:\\work\\shop\\" }, "shop"],
  [{ folder: "file:///c%3A/work/shop" }, "shop"],
  [{ folder: "/srv/shop/.claude/worktrees/round-it" }, "shop"],
  [{ folder: "/" }, null],
  [{ folder: "C:\\" }, null],
  [{ folder: "x".repeat(2000) }, null],
  [{}, null],
])("names the repository of %j", (told, repository) => {
  expect(factsOf(told).repository).toBe(repository);
});

it("takes a checkout without a branch for none", () => {
  expect(factsOf({ branch: "HEAD" }).branch).toBeNull();
});

it.each([
  ["Environment:\n  Working directory: /srv/shop\n  Is a repository: yes", "/srv/shop"],
  ["Look for the working directory: it is wrong.", null],
  ["# Current Workspace Directory (C:/work/shop) Files", "C:/work/shop"],
])("hears of the folder in %j", (text, folder) => {
  expect(toldFolder(text)).toBe(folder);
});

it("keeps the account in a folder's path, by which it is found, and no secret", async () => {
  const token = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
  const line = (n: number, type: string): object => ({
    ...{ type, uuid: `u${n}`, parentUuid: n === 0 ? null : "u0", sessionId: "s-1", gitBranch: token },
    ...{ cwd: "/home/alice/shop", message: { role: type, content: "In /home/alice/shop." } },
  });
  const [session] = (await importText(jsonLines(line(0, "user"), line(1, "assistant")))).sessions;
  expect(session?.source).toMatchObject({ folder: "/home/alice/shop", repository: "shop" });
  expect(session?.source.branch).toMatch(/^<SECRET:/);
  expect(session?.steps[0]?.text).toBe("In /home/dev/shop.");
});
