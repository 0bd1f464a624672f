import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { recordWorker } from "./support/recording.mjs";

const root = join(import.meta.dirname, "..", "..");
const folder = join(root, "packages/server/test/fixtures/recordings");

const recordings = Object.fromEntries(
  readdirSync(folder).map((file) => [
    file.replace(".ndjson", ""),
    readFileSync(join(folder, file), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ]),
);

/** Keys at every depth and the kinds of their values; of a list the shapes that its members have. */
const shapeOf = (value) => {
  if (Array.isArray(value)) return [...new Set(value.map((member) => JSON.stringify(shapeOf(member))))].sort();
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, shapeOf(value[key])]),
  );
};

/** The shapes of events in their order; what is told several times in a row counts once, checkpoints between steps not at all. */
const course = (events) =>
  events
    .filter(({ type }) => type !== "checkpoint")
    .map((event) => ({ ...shapeOf(event), type: event.type, phase: event.phase }))
    .filter((shape, index, all) => JSON.stringify(shape) !== JSON.stringify(all[index - 1]));

const readTokens = (events) => events.reduce((sum, { progress }) => sum + (progress?.supervised_tokens ?? 0), 0);

const expectStepsToCountTheirOwn = (events) => {
  const { plan } = events.find(({ type }) => type === "plan");
  expect(events.filter(({ type }) => type === "progress").length).toBeGreaterThan(1);
  expect(readTokens(events)).toBe(plan.epochs * plan.supervised_tokens);
};

/** The set-up with the default model made small: what is said, and in which order, depends on no weights. */
const small = () => {
  const setup = JSON.parse(readFileSync(join(root, ".imprint/setup.json"), "utf8"));
  const name = setup.default_model;
  const out = mkdtempSync(join(tmpdir(), "imprint-small-"));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  const env = { ...process.env, PYTHONPATH: join(root, "trainer/src"), HF_HUB_OFFLINE: "1" };
  const script = join(import.meta.dirname, "support", "shrink.py");
  execFileSync(setup.python, [script, setup.models[name], name, out], { env, stdio: "pipe" });
  return { setup: { ...setup, models: { [name]: join(out, "base") } }, hypernetworks: join(out, "hypernetworks") };
};

test("in the recording each step counts its own supervised tokens, and nothing names a machine", () => {
  expectStepsToCountTheirOwn(recordings.lora);
  expect(JSON.stringify(recordings)).not.toMatch(/"[^"]*(\/home\/|\/root\/|\/tmp\/|\/Users\/)/);
});

test("the real trainer says what was recorded (else: node scripts/record-worker.mjs)", { timeout: 600_000 }, async () => {
  const said = await recordWorker({ root, ...small() });
  expect(Object.keys(said).sort()).toEqual(Object.keys(recordings).sort());
  for (const [name, events] of Object.entries(said)) expect(course(events), name).toEqual(course(recordings[name]));
  expectStepsToCountTheirOwn(said.lora);
});
