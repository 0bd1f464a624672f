import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { build } from "./support/build.js";
import { imprint, type Running, start } from "./support/imprint.js";
import { EXAMPLES, place } from "./support/service.js";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(build, 120_000);

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Signals a command; it is killed, and the test fails, when it does not end within two seconds. */
const expectEnd = async (running: Running, signal: NodeJS.Signals): Promise<void> => {
  let isLate = false;
  running.child.kill(signal);
  const late = setTimeout(() => {
    isLate = true;
    running.child.kill("SIGKILL");
  }, 2_000);
  const { stderr } = await running.ended;
  clearTimeout(late);
  expect([signal, isLate, stderr.includes("fault of imprint")]).toEqual([signal, false, false]);
};

/** A service that is healthy and answers nothing; `asked` resolves at the next request. */
const silentService = async () => {
  let hear: () => void = () => {};
  const server = createServer((request, response) => {
    if (request.url === "/health") return void response.end('{"status":"healthy","service":"imprint"}');
    hear();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const asked = () =>
    new Promise<void>((resolve) => {
      hear = resolve;
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
};

it.each([
  "import EXAMPLES",
  "import EXAMPLES --watch",
  "project shop --from EXAMPLES",
  "project shop --from EXAMPLES --watch",
  "project shop",
  "job 01jd8z6v3m4n5p6q7r8s9t0v1w --watch",
  "train a-session --watch",
  "evaluate gates",
  "export gates --format gguf --out OUT",
  "export-sessions --format messages --out OUT",
  "chat gates --prompt hello",
])("imprint %s ends within two seconds of Ctrl-C and TERM while a service does not answer", async (line) => {
  const { root, env } = await place();
  const { url, asked } = await silentService();
  const args = line.replace("EXAMPLES", EXAMPLES).replace("OUT", path.join(root, "out")).split(" ");
  for (const signal of SIGNALS) {
    const isAsked = asked();
    const running = start([...args, "--url", url], env);
    await isAsked;
    await expectEnd(running, signal);
  }
});

it("what works with a service of its own ends within two seconds, whatever its trainer does", async () => {
  let root = "";
  const at = await place((given) => {
    root = given;
    const held = { wait_for: path.join(given, "never"), ignore_cancel: true };
    return { export: held, evaluate: held, hold_chats: path.join(given, "held"), ignore_cancel: true };
  });
  await imprint(["import", EXAMPLES], at);
  const trained = await imprint(["train", "harborline-gates", "--adapter-id", "gates", "--watch"], at);
  expect(trained).toMatchObject({ code: 0 });
  for (const signal of SIGNALS) {
    const exporting = start(["export", "gates", "--format", "gguf", "--out", path.join(root, "out")], at.env);
    await exporting.said("writing the files");
    await expectEnd(exporting, signal);
    const evaluating = start(["evaluate", "gates", "--on", "5b0f6d1e", "--actions", "0"], at.env);
    await evaluating.said("loading the base model");
    await expectEnd(evaluating, signal);
  }
  const chatting = start(["chat", "gates", "--prompt", "hello"], at.env);
  await vi.waitFor(() => expect(existsSync(path.join(root, "held"))).toBe(true), { timeout: 30_000 });
  await chatting.said("the trainer loads the model and reads the prompt");
  await expectEnd(chatting, "SIGINT");
});
