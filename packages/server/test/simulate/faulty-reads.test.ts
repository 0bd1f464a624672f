import { expect, onTestFinished, test, vi } from "vitest";
import { manualClock } from "../common/manual-clock.js";
import { makeFolder } from "../support/service.js";
import { disk, FILE_FAULTS } from "./disk.js";
import { recordingOf } from "./model.js";
import { startWorld } from "./world.js";

vi.mock("node:fs/promises", async (original) => (await import("./disk.js")).faultyFiles(await original()));

const NDJSON = { "content-type": "application/x-ndjson" };

/** A world with two sessions, an adapter that is evaluated and exported, and a training that a stop left unstarted. */
const startFilled = async () => {
  const [folder, clock] = [makeFolder(), manualClock()];
  const world = await startWorld(folder, clock);
  const post = async (url: string, payload: object | string, headers = {}): Promise<void> => {
    const { status, body } = await world.call({ method: "POST", url, payload, headers });
    expect(status, body).toBeLessThan(300);
    await world.settle();
  };
  const work = async (url: string, payload: object): Promise<void> => {
    await post(url, payload);
    for (const id of world.trainer.running()) await world.trainer.move(id, "does it well");
    await world.settle();
  };
  await post("/sessions", recordingOf("first", 2), NDJSON);
  await post("/sessions", recordingOf("second", 2), NDJSON);
  await work("/train/lora", { session_id: "first", adapter_id: "one" });
  await work("/adapters/one/evaluate", { session_ids: ["second"] });
  await work("/adapters/one/export", { format: "gguf" });
  for (const adapter_id of ["two", "three", "four"]) await post("/train/lora", { session_id: "first", adapter_id });
  await world.stop();
  const again = await startWorld(folder, clock);
  onTestFinished(() => again.stop());
  return again;
};

const READS = [
  "/sessions",
  "/sessions?search=Ask",
  "/sessions/first",
  "/sessions/first/content",
  "/adapters",
  "/adapters/one",
  "/adapters/one/evaluation",
  "/adapters/one/exports/gguf",
  "/adapters/one/exports/gguf/files/one.gguf",
  "/adapters/one/files/README.md",
  "/adapters/one/tasks",
  "/jobs",
  "/v1/models",
];

test.each(READS)("whichever operation of the disk fails under GET %s, the answer is the true one, or a fault", async (url) => {
  const world = await startFilled();
  const ask = async () => {
    const { status, body } = await world.call({ method: "GET", url });
    return { status, body: body.replace(/"request_id":"[^"]*"/, "") };
  };
  const whole = await ask();
  for (const code of FILE_FAULTS)
    for (let after = 0, met = true; met; after += 1) {
      disk.fault = { code, after };
      const { status, body } = await ask();
      met = disk.failed.splice(0).length > 0;
      disk.fault = null;
      if (status < 500) expect({ code, after, status, body }).toEqual({ code, after, ...whole });
    }
  expect(await ask()).toEqual(whole);
});
