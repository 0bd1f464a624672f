import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { JobDetails } from "@imprint/contracts";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint, start } from "../support/imprint.js";
import { type Behaviour, EXAMPLES, place, servedPlace } from "../support/service.js";
import { onTerminal } from "../support/terminal.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

const SESSION = path.join(EXAMPLES, "harborline-gates.json");
const json = (text: string): JobDetails => JSON.parse(text) as JobDetails;

const waiting: Behaviour = (root) => ({ wait_for: path.join(root, "go") });

/** A place whose trainings wait after their first step until `release` is called. */
async function held() {
  const at = await servedPlace(waiting);
  await imprint(["import", SESSION], at);
  return { ...at, release: () => writeFile(path.join(at.root, "go"), "") };
}

describe("with a running service", () => {
  it("imports, trains, shows and tries an adapter", async () => {
    const at = await servedPlace();
    const imported = await imprint(["import", SESSION], at);
    expect(imported.stdout).toContain("1 session stored.");
    const trained = await imprint(["train", "harborline-gates", "--adapter-id", "gates-v1", "--watch"], at);
    expect(trained.code).toBe(0);
    expect(trained.stderr).toContain("200 tokens, 120 supervised, in 2 windows; rank 16, at most 3 steps, takes 1.5 GB\n");
    expect(trained.stderr.endsWith("completed\n")).toBe(true);
    expect(trained.stdout).toContain("gates-v1 is ready");
    expect(trained.stdout).toContain("loss on the session        2.500 → 0.400  −84 %");
    expect((await imprint(["adapters"], at)).stdout).toContain("gates-v1");
    const adapter = await imprint(["adapter", "gates-v1", "--verify"], at);
    expect(adapter).toMatchObject({ code: 0, stdout: expect.stringContaining(path.join(at.dataDir, "adapters", "gates-v1")) });
    const chat = await imprint(["chat", "gates-v1", "--prompt", "which ports?"], at);
    expect(chat).toEqual({ code: 0, stdout: "adapter: which ports?\n", stderr: "" });
    const piped = await imprint(["chat", "tiny-model"], { ...at, input: "from a pipe\n" });
    expect(piped.stdout).toBe("base: from a pipe\n");
  });

  it("names the sessions that are skipped, in the preview and when the training has ended", async () => {
    const at = await servedPlace(() => ({ skip: ["silent"] }));
    const silent = path.join(at.root, "silent.json");
    await writeFile(silent, (await readFile(SESSION, "utf8")).replace("harborline-gates", "silent"));
    await imprint(["import", SESSION, silent], at);
    const sentence = "! skipped silent: The session silent has no agent turn to learn from.\n";
    const preview = await imprint(["preview", "harborline-gates", "silent"], at);
    expect(preview).toMatchObject({ code: 0, stdout: expect.stringContaining(sentence) });
    const trained = await imprint(["train", "harborline-gates", "silent", "--watch"], at);
    expect(trained).toMatchObject({ code: 0, stdout: expect.stringContaining(sentence) });
    expect(trained.stderr).toContain("at most 3 steps, takes 1.5 GB; 1 session skipped\n");
  });

  it("shows the trainer's log while it watches, when asked to", async () => {
    const at = await held();
    const watching = start(["train", "harborline-gates", "--adapter-id", "logged", "--watch", "--log"], at.env);
    await watching.said("  training logged\n");
    await at.release();
    expect(await watching.ended).toMatchObject({ code: 0, stdout: expect.not.stringContaining("training logged") });
    expect(await imprint(["train", "harborline-gates", "--log"], at)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("add --watch"),
    });
  });

  it("starts without waiting, and says how to follow", async () => {
    const at = await held();
    const started = await imprint(["train", "harborline-gates", "--json"], at);
    const { job_id } = json(started.stdout);
    expect(started).toMatchObject({ code: 0, stderr: "" });
    const watching = start(["job", job_id, "--watch", "--json"], at.env);
    await watching.said("step 1/3");
    await at.release();
    const { code, stdout } = await watching.ended;
    expect(code).toBe(0);
    expect(json(stdout)).toMatchObject({ job_id, status: "completed" });
  });

  it("cancels, and a job that was cancelled is a failure of who watched it", async () => {
    const at = await held();
    const { job_id } = json((await imprint(["train", "harborline-gates", "--json"], at)).stdout);
    const watching = start(["job", job_id, "--watch"], at.env);
    await watching.said("step 1/3");
    expect((await imprint(["cancel", job_id], at)).code).toBe(0);
    const { code, stdout } = await watching.ended;
    expect([code, stdout]).toEqual([1, `Job ${job_id} was cancelled.\n`]);
    const again = await imprint(["cancel", job_id, "--json"], at);
    expect(again.code).toBe(1);
    expect(JSON.parse(again.stdout)).toMatchObject({ error: { code: "JOB_FINISHED" } });
  });

  it("asks on a terminal before it cancels the latest, whatever that is", async () => {
    const at = await held();
    const { job_id } = json((await imprint(["train", "harborline-gates", "--json"], at)).stdout);
    const answered = (answer: string) => onTerminal(["cancel", "latest"], { env: at.env, answers: [answer] });
    const kept = await answered("");
    expect(kept).toMatch(new RegExp(`Cancel the \\w+ job ${job_id} \\(lora\\)\\?`));
    expect(kept).toContain("Nothing was cancelled.");
    expect(await answered("y")).toMatch(/will stop at its next step|is cancelled/);
  });

  it("says how to go on with a cancelled training, goes on with it, and salvages it", async () => {
    const at = await servedPlace((root) => ({ ...waiting(root), checkpoint: true }));
    await imprint(["import", SESSION], at);
    const { job_id } = json((await imprint(["train", "harborline-gates", "--json"], at)).stdout);
    const watching = start(["job", job_id, "--watch"], at.env);
    await watching.said("step 1/3");
    await imprint(["cancel", job_id], at);
    expect((await watching.ended).stdout).toBe(
      `Job ${job_id} was cancelled.\nStep 1 is kept.\n  to go on:   npx imprint train --resume ${job_id}\n  to use it:  npx imprint salvage ${job_id}\n`,
    );
    await writeFile(path.join(at.root, "go"), "");
    const salvaged = await imprint(["salvage", job_id, "--adapter-id", "half", "--watch", "--json"], at);
    expect(salvaged.code).toBe(0);
    expect(json(salvaged.stdout)).toMatchObject({ status: "completed", adapter_id: "half" });
    expect((await imprint(["adapter", "half"], at)).stdout).toContain("salvaged after 1 of at most 3 steps");
    expect((await imprint(["adapters"], at)).stdout).toContain("lora, partial");
    const resumed = await imprint(["train", "--resume", job_id, "--adapter-id", "whole", "--watch"], at);
    expect(resumed.code).toBe(0);
    expect(resumed.stderr).not.toContain("step 1/3");
    expect(resumed.stdout).toContain("whole is ready");
    const unknown = await imprint(["salvage", "0".repeat(26)], at);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no checkpoint of a job") });
    expect((await imprint(["train", "--resume", job_id, "--seed", "3"], at)).code).toBe(2);
  });

  it("Ctrl-C stops the watching and not the job", async () => {
    const at = await held();
    const watching = start(["train", "harborline-gates", "--watch"], at.env);
    await watching.said("step 1/3");
    watching.child.kill("SIGINT");
    const { code, stdout } = await watching.ended;
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Stopped watching\. The job goes on: npx imprint job \w{26} --watch\n$/);
    const { stdout: jobs } = await imprint(["jobs", "--status", "running", "--json"], at);
    expect(JSON.parse(jobs).jobs).toHaveLength(1);
  });

  it("a failed job is exit code 1, with the sentence and what to do", async () => {
    const fail = { code: "OUT_OF_MEMORY", message: "The machine has 1 GB.", hint: "Lower max_length." };
    const at = await servedPlace(() => ({ fail }));
    await imprint(["import", SESSION], at);
    const { code, stdout } = await imprint(["train", "harborline-gates", "--watch"], at);
    expect(code).toBe(1);
    expect(stdout).toContain("The machine has 1 GB. (OUT_OF_MEMORY)\n  Lower --max-length.");
  });

  it("says what is asked for takes, and refuses what cannot fit before there is a job", async () => {
    const suggestion = "It fits with rank 8: 1.2 GB of 1.3 GB.";
    const at = await servedPlace(() => ({ memory: { available_mb: 1300, fits: false, suggestion } }));
    await imprint(["import", SESSION], at);
    const { code, stderr } = await imprint(["train", "harborline-gates", "--rank", "64"], at);
    expect(code).toBe(1);
    expect(stderr).toContain(`The training needs 1.5 GB of 1.3 GB: does not fit. ${suggestion}`);
    expect((await imprint(["preview", "harborline-gates"], at)).stdout).toContain(suggestion);
    expect(JSON.parse((await imprint(["jobs", "--json"], at)).stdout).jobs).toEqual([]);
  });

  it("an adapter that harms fails its job with the figures; kept on request it is marked, without a tick", async () => {
    const at = await servedPlace(() => ({ proof: { loss_after: 3 } }));
    await imprint(["import", SESSION], at);
    const train = ["train", "harborline-gates", "--adapter-id", "worse", "--watch"];
    const refused = await imprint(train, at);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain("own text 2.500 → 3.000 (+20 %), neutral text 3.100 → 3.200 (+3.2 %)");
    expect(refused.stdout).toContain("Set --keep-harmful to register it all the same. (ADAPTER_HARMS)");

    const kept = await imprint([...train, "--keep-harmful"], at);
    expect(kept.code).toBe(0);
    expect(kept.stdout).toContain("! worse is kept although it harms,");
    expect(kept.stdout).toContain("✗ It makes the model worse on its own text.");
    const { stdout: list } = await imprint(["adapters"], at);
    expect(list).toMatch(/^worse .* \+20 % +harmful$/m);
    const { stdout: adapter } = await imprint(["adapter", "worse"], at);
    expect(adapter).toContain("harmful; its files are ok");
    expect([refused.stdout, kept.stdout, list, adapter].join()).not.toContain("✓");
  });

  it.each(["train", "preview"])("%s of a session that is not there is wrong usage, and starts no job", async (command) => {
    const at = await servedPlace();
    await imprint(["import", SESSION], at);
    const { code, stderr } = await imprint([command, "harborline-gates", "harborline-gatez"], at);
    expect([code, stderr]).toEqual([2, expect.stringContaining('there is no session "harborline-gatez"')]);
    expect(stderr).toContain("imprint sessions lists");
    expect(json((await imprint(["jobs", "--json"], at)).stdout)).toMatchObject({ jobs: [], counts: { failed: 0 } });
  });
});

describe("with no service running", () => {
  it("trains on the file of a recorded session, and needs no other command before the chat", async () => {
    const at = await place();
    const trained = await imprint(["train", SESSION, "--adapter-id", "gates-v1", "--watch"], at);
    expect(trained).toMatchObject({ code: 0, stderr: expect.stringContaining("1 session in") });
    const again = await imprint(["train", SESSION, "harborline-gates", "--json"], at);
    expect(json(again.stdout)).toMatchObject({ status: "completed", request: { session_id: "harborline-gates" } });
    expect(await imprint(["chat", "gates-v1", "--prompt", "which ports?"], at)).toMatchObject({
      stdout: "adapter: which ports?\n",
    });
  });

  it.each([
    ["sessions/gone.json", "there is no file sessions/gone.json"],
    [path.join(EXAMPLES, "..", "README.md"), "README.md: no file there"],
  ])("refuses %s as a session, with the remedy", async (given, sentence) => {
    const { code, stderr } = await imprint(["train", given], await place());
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  });

  it("trains in its own process, says so, and leaves an adapter and no process", async () => {
    const at = await place();
    expect((await imprint(["import", SESSION], at)).stderr).toContain("this command runs its own");
    const trained = await imprint(["train", "harborline-gates", "--adapter-id", "gates-v1", "--json"], at);
    expect(trained.code).toBe(0);
    expect(json(trained.stdout)).toMatchObject({ status: "completed", adapter_id: "gates-v1" });
    expect(trained.stderr).toContain("No service runs on");
    await expect(readFile(path.join(at.dataDir, "server.json"))).rejects.toThrow("ENOENT");
    expect(JSON.parse((await imprint(["adapters", "--json"], at)).stdout).adapters).toHaveLength(1);
  });

  it("no other command finds its service, and Ctrl-C cancels the job, which cannot outlive the command", async () => {
    const at = await place(waiting);
    await imprint(["import", SESSION], at);
    const training = start(["train", "harborline-gates"], at.env);
    await training.said("step 1/3");
    // Its service ends with it, so that no other command may come to rely on it.
    const other = await imprint(["jobs"], at);
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringContaining("another imprint process works on this data directory"),
    ]);
    training.child.kill("SIGINT");
    expect(await training.ended).toMatchObject({ code: 1, stdout: expect.stringContaining("was cancelled") });
  });
});
