import { createClient } from "@imprint/client";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { build, MAIN } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { EXAMPLES, type Place, place, serve, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

/** An example that calls tools. */
const CALLS = "5b0f6d1e-9c44-4a7b-8f12-7413c0ffee01";

/** The official client, connected to the command as agents start it. */
async function connected({ env }: Place, ...flags: string[]) {
  const client = new Client({ name: "test", version: "1.0.0" });
  const { PATH = "", HOME = "" } = process.env;
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [MAIN, "mcp", ...flags], env: { PATH, HOME, ...env } }),
  );
  onTestFinished(() => client.close());
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: given });
    const [first] = content as readonly { readonly text: string }[];
    return { isError, text: first?.text ?? "", told: isError ? null : JSON.parse(first?.text ?? "null") };
  };
  return { client, call };
}

it("agents search sessions and read them in pages, and can start nothing", async () => {
  const at = await servedPlace();
  await imprint(["import", EXAMPLES], at);
  const { client, call } = await connected(at);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["search_sessions", "read_session", "list_adapters", "show_job"]);
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);

  const { told } = await call("search_sessions", { words: "harborline-gates", limit: 1 });
  expect(told.sessions).toMatchObject([{ session_id: "harborline-gates", turns: expect.any(Number) }]);
  const steps: string[] = [];
  for (let first_step: number | undefined = 0; first_step !== undefined; ) {
    const page = await call("read_session", { session_id: CALLS, first_step });
    expect(page.text.length).toBeLessThan(40_000);
    steps.push(...page.told.steps);
    first_step = page.told.next_step;
  }
  const stored = await createClient({ baseUrl: at.server.url }).sessions.content(CALLS);
  expect(steps).toHaveLength(stored.steps.length);
  expect(steps.some((step) => step.includes("\ncall "))).toBe(true);
  await expect(call("train", { session_ids: ["harborline-gates"] })).rejects.toThrow(/train/);
});

it("where it is allowed they train, follow the job, and see the adapter", async () => {
  const at = await servedPlace();
  await imprint(["import", EXAMPLES], at);
  const { call } = await connected(at, "--allow-training");
  const { told } = await call("train", { session_ids: ["harborline-gates"], profile: "learn" });
  await imprint(["job", told.job_id, "--watch"], at);
  const { told: job } = await call("show_job", { job_id: told.job_id });
  expect(job).toMatchObject({ kind: "lora", status: "completed" });
  expect((await call("list_adapters")).told.adapters).toMatchObject([{ adapter_id: job.adapter_id, sessions: 1 }]);
});

it("what is wrong is a sentence, and a service that starts later is found", async () => {
  const at = await place();
  const { call } = await connected(at);
  const silent = await call("list_adapters");
  expect(silent).toMatchObject({ isError: true, text: expect.stringMatching(/no service runs on .*imprint serve starts one/) });
  await serve(at);
  expect((await call("list_adapters")).told).toEqual({ adapters: [] });
  expect(await call("read_session", { session_id: "nobody" })).toMatchObject({
    isError: true,
    text: expect.stringContaining("nobody"),
  });
  expect(await call("search_sessions", { limit: 1000 })).toMatchObject({ isError: true, text: expect.stringContaining("limit") });
});
