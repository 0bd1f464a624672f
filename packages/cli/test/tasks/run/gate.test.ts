import { once } from "node:events";
import http from "node:http";
import type { SessionList } from "@imprint/contracts";
import { expect, it, onTestFinished, vi } from "vitest";
import { openGate } from "../../../src/tasks/run/gate.js";
import { place, serve } from "../../support/service.js";

vi.setConfig({ testTimeout: 60_000 });

const MODEL = "tiny-model";
const TOKEN = "a-token-of-some-length";

/** A gate to a real service that wants a token. */
async function gateWith({ turns = 9, seed = 0 } = {}) {
  const at = await place();
  const { url } = await serve({ ...at, env: { ...at.env, IMPRINT_TOKEN: TOKEN } });
  const onFull = vi.fn();
  const gate = await openGate({
    ...{ service: { url, token: TOKEN }, agent: "mini-swe-agent", group: "one-base-0", model: MODEL, seed, turns, onFull },
  });
  onTestFinished(gate.close);
  const base = `http://127.0.0.1:${gate.port}`;
  const send = (path: string, method: string, body?: object): Promise<Response> =>
    fetch(base + path, { method, headers: { "content-type": "application/json" }, ...(body && { body: JSON.stringify(body) }) });
  const chat = (more: object = {}): Promise<Response> =>
    send("/v1/chat/completions", "POST", { model: "other", messages: [{ role: "user", content: "Fix it." }], ...more });
  const look = (path: string): Promise<Response> => fetch(url + path, { headers: { authorization: `Bearer ${TOKEN}` } });
  return { gate, send, chat, look, onFull };
}

it("lets an agent without a token ask, fixes the model, counts turns and tokens, and has the conversation recorded", async () => {
  const { gate, chat, look } = await gateWith();
  const whole = await chat();
  expect([whole.status, ((await whole.json()) as { model: string }).model]).toEqual([200, MODEL]);
  const { prompt_tokens: once } = gate.heard;
  expect(once).toBeGreaterThan(0);
  const streamed = await chat({ stream: true });
  expect(await streamed.text()).toMatch(/data: \[DONE\]\s*$/);
  await vi.waitFor(() => expect(gate.heard).toMatchObject({ turns: 2, prompt_tokens: 2 * once, refused: null }));
  expect(gate.heard.completion_tokens).toBeGreaterThan(0);
  await vi.waitFor(async () => {
    const { sessions } = (await (await look("/sessions?prefix=one-base-0-")).json()) as SessionList;
    expect(sessions).toMatchObject([{ format: "gateway", model: MODEL }]);
  }, 15_000);
});

it("has no way to anything else that the service has", async () => {
  const { send } = await gateWith();
  expect((await send("/v1/models", "GET")).status).toBe(200);
  const forbidden = [
    ["/adapters", "GET"],
    ["/sessions", "GET"],
    ["/adapters/a?purge=true", "DELETE"],
    ["/train/lora", "POST"],
  ] as const;
  for (const [path, method] of forbidden) expect([path, (await send(path, method)).status]).toEqual([path, 404]);
});

it.each(["/v1/models/../../adapters", "/v1/models/%2e%2e/%2E%2E/adapters"])("is not talked round by %s", async (path) => {
  const { gate } = await gateWith();
  // fetch would make the path plain before it is sent.
  const asked = http.request({ host: "127.0.0.1", port: gate.port, path }).end();
  const [answer] = (await once(asked, "response")) as [http.IncomingMessage];
  answer.resume();
  expect(answer.statusCode).toBe(404);
});

it("ends an agent that asks more often than it may", async () => {
  const { chat, onFull, gate } = await gateWith({ turns: 1 });
  expect((await chat()).status).toBe(200);
  await vi.waitFor(() => expect(gate.heard.turns).toBe(1));
  const refused = await chat();
  expect([refused.status, ((await refused.json()) as { error: { message: string } }).error.message]).toEqual([
    403,
    "The task ends after 1 turns.",
  ]);
  expect(onFull).toHaveBeenCalledOnce();
});

it("keeps why the service refused, until it answers again", async () => {
  const { chat, gate } = await gateWith({ seed: 3 });
  expect((await chat({ n: 7 })).status).toBe(400);
  await vi.waitFor(() => expect(gate.heard.refused?.message).toMatch(/\bn\b/));
  expect(gate.heard.turns).toBe(0);
  expect((await chat()).status).toBe(200);
  await vi.waitFor(() => expect(gate.heard).toMatchObject({ turns: 1, refused: null }));
});
