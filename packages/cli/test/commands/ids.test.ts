import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { EXAMPLES, type Place, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 90_000 });
beforeAll(build, 120_000);

const CLAUDE = "5b0f6d1e-9c44-4a7b-8f12-7413c0ffee01";

/** The example sessions, an adapter of each, and how a command line ends. */
async function stocked(): Promise<{ at: Place; run: (line: string) => Promise<{ code: number | null; said: string }> }> {
  const at = await servedPlace();
  const run = async (line: string): Promise<{ code: number | null; said: string }> => {
    const { code, stdout, stderr } = await imprint(line.split(" "), at);
    return { code, said: stdout + stderr };
  };
  await imprint(["import", path.join(EXAMPLES, "harborline-gates.json")], at);
  await imprint(["import", path.join(EXAMPLES, "claude-code")], at);
  await imprint(["train", "harborline-gates", "--adapter-id", "gates-v1", "--watch"], at);
  await imprint(["train", "harborline-gates", "--adapter-id", "gates-v2", "--watch"], at);
  return { at, run };
}

describe("ids", () => {
  it("are taken by their beginning and as latest, by every command that takes one", async () => {
    const { at, run } = await stocked();
    const out = path.join(at.root, "out");
    for (const [line, says] of [
      ["label 5b0f success", `Session ${CLAUDE}: success.`],
      ["label latest unknown", `Session ${CLAUDE}: unknown.`],
      ["preview harb 5b0f", "supervised"],
      ["adapter gates-v1", "gates-v1"],
      ["adapter latest", "latest: adapter gates-v2"],
      ["adapters --session harb", "gates-v1"],
      [`export gates-v1 --format peft --out ${out}`, "files"],
      [`export latest --format peft --out ${out}2`, "files"],
      ["chat gates-v1 --prompt hello", "hello"],
      ["chat latest --prompt hello", "latest: adapter gates-v2"],
      ["chat tiny-model --prompt hello", "hello"],
      ["train 5b0f --adapter-id third --watch", "third is ready"],
      ["job latest", "third is ready"],
      ["adapter thir", "thir: adapter third"],
    ] as const) {
      const { code, said } = await run(line);
      expect([line, code], said).toEqual([line, 0]);
      expect(said).toContain(says);
    }
    const { jobs } = JSON.parse((await imprint(["jobs", "--json"], at)).stdout);
    const id: string = jobs[1].job_id;
    for (const line of [`job ${id.slice(0, -1)}`, `job ${id}`]) expect((await run(line)).said).toContain("gates-v2 is ready");
    for (const command of ["cancel", "salvage", "train --resume"])
      expect((await run(`${command} ${id.slice(0, -1)}`)).said).toContain(`${id.slice(0, -1)}: job ${id}`);
  });

  it("that begin alike end the command with 2 and are listed; what begins no id is not found", async () => {
    const { run } = await stocked();
    const both = await run("adapter gates");
    expect(both.code).toBe(2);
    expect(both.said).toMatch(/"gates" begins more than one id.*\n.*gates-v2\n.*gates-v1/);
    expect(await run("adapter nobody")).toMatchObject({ code: 2, said: expect.stringContaining("There is no adapter") });
    expect(await run("adapter gat")).toMatchObject({ code: 2, said: expect.stringContaining("There is no adapter") });
  });

  it("of nothing: there is no latest yet", async () => {
    const at = await servedPlace();
    for (const line of ["job latest", "preview latest", "adapter latest"]) {
      const { code, stderr } = await imprint(line.split(" "), at);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/There is no (job|session|adapter) yet:/)]);
    }
  });
});

describe("jobs", () => {
  it("show the id that a waiting job reserves", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "imprint-cli-go-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const go = path.join(folder, "go");
    const at = await servedPlace(() => ({ wait_for: go }));
    await imprint(["import", path.join(EXAMPLES, "harborline-gates.json")], at);
    await imprint(["train", "harborline-gates", "--adapter-id", "first"], at);
    await imprint(["train", "harborline-gates", "--adapter-id", "second"], at);
    const { stdout } = await imprint(["jobs"], at);
    expect(stdout).toMatch(/queued +second \(reserved\)/);
    expect(stdout).toMatch(/running +first \(reserved\)/);
    await writeFile(go, "");
  });
});
