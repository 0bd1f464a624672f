import type { Route } from "playwright-core";
import { expect, test, vi } from "vitest";
import { makeNative } from "../../../server/test/support/native.js";
import { makeSession } from "../../../server/test/support/session.js";
import { expectNoFaults, openPage, provideBrowser, TEST_MS } from "./support/browser.js";
import { dropFile } from "./support/drop.js";
import { makeFolder, makeGate, putSession, startLora, startService } from "./support/stage.js";

provideBrowser();

/** Whatever says that something is well. */
const GOOD = '[data-tone="good"], [data-status="completed"], :text("✓")';

test(
  "a dropped session is previewed, trained on while its curve moves, proved, and asked beside its base model",
  async () => {
    const gate = makeGate();
    const service = await startService({ behaviour: { steps: 40, wait_for: gate.path } });
    const page = await openPage(`${service.url}/#/sessions`);

    const secret = `sk-ant-api03-${"a1B2".repeat(20)}`;
    const content = makeNative("dropped", { task_description: `Add two numbers. ANTHROPIC_API_KEY=${secret}` });
    await dropFile(page, ".drop", { name: "dropped.json", content });
    const imported = page.getByRole("list", { name: "Imported files" });
    await imported.getByRole("heading", { name: "Redacted secrets" }).waitFor();
    expect(await imported.textContent()).not.toContain("No secrets were found.");
    expect(await page.textContent("body")).not.toContain(secret);
    await imported.getByRole("link", { name: "dropped" }).click();

    await page.getByRole("button", { name: "Preview" }).click();
    const learned = page.locator("pre mark");
    expect(await learned.textContent()).toBe("hi");
    await page.getByText("no: duplicate turn").waitFor();

    await page.getByRole("link", { name: "Train on it" }).click();
    await page.getByLabel("Rank").fill("zero");
    await page.getByRole("button", { name: "Start training" }).click();
    await page.getByText("must be integer").waitFor();
    expect(service.jobs.counts()).toMatchObject({ queued: 0, running: 0 });
    await page.getByLabel("Rank").fill("4");
    await page.getByLabel("Adapter id").fill("from-the-page");
    await page.getByRole("button", { name: "Start training" }).click();

    await page.getByRole("img", { name: /^Loss: 1 points/ }).waitFor();
    gate.open();
    await page.getByRole("img", { name: "Loss: 40 points, from 2.5 to 0.0625" }).waitFor();
    await page.getByText("It learned the session (loss 2.5 → 0.4, −84 %) and kept what the base model knew.").waitFor();
    expect(await page.locator(".page-head .status").textContent()).toBe("completed");
    expect(await page.locator(GOOD).count()).toBe(5); // the status, the proof and its three consumers
    expect(await page.locator("canvas").count()).toBe(4);

    await page.getByRole("link", { name: "Try it" }).click();
    await page.getByLabel("Prompt").fill("Add two numbers.");
    await page.getByRole("button", { name: "Ask both" }).click();
    await page.getByText("base: Add two numbers.").waitFor();
    await page.getByText("adapter: Add two numbers.").waitFor();
    await vi.waitFor(async () => expect(await page.locator(".answer mark").allTextContents()).toEqual(["base:", "adapter:"]));
    await page.reload();
    await page.getByText("Asks nothing yet.").first().waitFor();
    expect(await page.getByLabel("Prompt").inputValue(), "the question is in the address").toBe("Add two numbers.");

    const fresh = await openPage(`${service.url}/#/playground`);
    const { task } = (await (await fetch(`${service.url}/sessions/dropped`)).json()) as { task: string };
    await vi.waitFor(async () => expect(await fresh.getByLabel("Prompt").inputValue()).toBe(task));
    await fresh.getByLabel("Prompt").press("Control+Enter");
    await fresh.getByText(`adapter: ${task}`).waitFor();

    const late = new Promise<Route>((resolve) => void fresh.route("**/sessions/dropped", resolve));
    await fresh.goto(`${service.url}/#/playground`);
    await fresh.reload();
    await fresh.getByLabel("Prompt").pressSequentially("Sub");
    const arrived = fresh.waitForResponse("**/sessions/dropped");
    await (await late).continue();
    await arrived;
    await fresh.getByLabel("Prompt").pressSequentially("tract.");
    expect(await fresh.getByLabel("Prompt").inputValue(), "the task does not arrive under one's hands").toBe("Subtract.");
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "a job's page and its preview name the session that is skipped",
  async () => {
    const service = await startService({ behaviour: { skip: ["silent"] } });
    for (const id of ["good", "silent"]) putSession(service.dataDir, id);
    const job = await service.ended(await startLora(service, { session_ids: ["good", "silent"] }));
    const page = await openPage(`${service.url}/#/jobs/${job.job_id}`);
    const sentence = page.getByText("silent is skipped: The session silent has no agent turn to learn from.");
    await sentence.waitFor();
    await page.getByRole("button", { name: "Show what it learns" }).click();
    await sentence.nth(1).waitFor();
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "an adapter that harms shows no tick and nothing green: its job fails with the proof, kept it is marked everywhere",
  async () => {
    const service = await startService({ behaviour: { proof: { loss_after: 3 } } });
    putSession(service.dataDir, "s1");
    const refused = await service.ended(await startLora(service, { session_id: "s1", adapter_id: "worse" }));
    const page = await openPage(`${service.url}/#/jobs/${refused.job_id}`);
    const good = page.locator(GOOD);
    await page.getByText("own text 2.500 → 3.000 (+20 %), neutral text 3.100 → 3.200 (+3.2 %)").waitFor();
    await page.getByText("It makes the model worse on its own text (loss 2.5 → 3, +20 %").waitFor();
    expect(await good.count()).toBe(0);

    await page.goto(`${service.url}/#/train?session=s1`);
    await page.getByText("More settings").click();
    await page.getByLabel("Adapter id").fill("worse");
    await page.getByLabel("Keep harmful").selectOption("yes");
    await page.getByRole("button", { name: "Start training" }).click();
    await page.locator(".page-head").getByText("completed, harmful").waitFor();
    await page.getByText("It makes the model worse on its own text").waitFor();
    expect(await good.count()).toBe(0);
    for (const [path, mark] of [
      ["jobs", "completed, harmful"],
      ["adapters", "harmful"],
      ["adapters/worse", "harmful"],
    ] as const) {
      await page.goto(`${service.url}/#/${path}`);
      await page.getByText(mark, { exact: true }).waitFor();
      expect(await good.count()).toBe(0);
    }
    await page.goto(`${service.url}/#/playground`);
    const adapters = page.getByLabel("Adapter").locator("option");
    await vi.waitFor(async () => expect(await adapters.allTextContents()).toEqual(["worse (harmful)"]));
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "a session that is no session is refused with the service's sentence, and the others go on",
  async () => {
    const service = await startService();
    const page = await openPage(`${service.url}/#/sessions`);
    await dropFile(page, ".drop", { name: "notes.txt", content: "just some notes" });
    await page.locator(".imports .problem").waitFor();
    await dropFile(page, ".drop", { name: "good.json", content: makeNative("good") });
    await page.locator(".imports").getByRole("link", { name: "good" }).waitFor();
  },
  TEST_MS,
);

test(
  "a search narrows the stored sessions to those that have its words",
  async () => {
    const service = await startService();
    for (const id of ["gate", "door"]) putSession(service.dataDir, id);
    const page = await openPage(`${service.url}/#/sessions`);
    const link = (name: string) => page.getByRole("link", { name, exact: true });
    await link("door").waitFor();
    await page.getByRole("searchbox", { name: "Search sessions" }).fill("GATE success");
    await link("door").waitFor({ state: "detached" });
    await link("gate").waitFor();
    await page.getByRole("searchbox").fill("nobody");
    await page.getByText("No session is like this.").waitFor();
    await page.getByRole("searchbox").fill("");
    await link("door").waitFor();
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "sessions say where and with which model they were recorded, and are narrowed to a repository",
  async () => {
    const service = await startService();
    const put = (id: string, repository: string, more: object = {}): void => {
      const source = { ...makeSession(id).source, repository, branch: "main", model: "m-1", ...more };
      putSession(service.dataDir, id, makeSession(id, { source, started_at: "2026-01-01T00:00:00.000Z" }));
    };
    put("hinge", "shop");
    put("door", "billing-api", { provider: "imprint", model: "gates-v1" });
    const page = await openPage(`${service.url}/#/sessions`);
    const row = (name: string) => page.getByRole("row", { name: new RegExp(`^Choose ${name} `) });
    await vi.waitFor(async () => expect(await row("door").textContent()).toMatch(/billing-api.*main.*gates-v1.*own words/));
    expect(await row("hinge").textContent()).not.toContain("own words");
    await page.getByRole("combobox", { name: "Repository" }).selectOption("shop");
    await row("door").waitFor({ state: "detached" });
    await row("hinge").waitFor();
    await page.getByRole("combobox", { name: "Repository" }).selectOption("billing-api");
    await row("hinge").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "door", exact: true }).click();
    await page.getByText("own words, of this service").waitFor();
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "jobs appear as others start them, wait in their order, move up and are cancelled",
  async () => {
    const gate = makeGate();
    const service = await startService({ behaviour: { wait_for: gate.path } });
    putSession(service.dataDir, "s1");
    const page = await openPage(`${service.url}/#/jobs`);
    await page.getByText("No jobs yet.").waitFor();

    for (const id of ["one", "two", "three"]) await startLora(service, { session_id: "s1", adapter_id: id });
    const row = (id: string) => page.getByRole("row", { name: new RegExp(`^${id} `) });
    await row("one").getByText("running").waitFor();
    await row("three").getByText("position 2 in the queue").waitFor();

    await row("two").getByRole("button", { name: "Cancel" }).click();
    await row("two").getByText("cancelled").waitFor();
    await row("three").getByText("position 1 in the queue").waitFor();

    await page.getByRole("link", { name: "cancelled 1" }).click();
    await row("one").waitFor({ state: "detached" });
    await page.reload();
    await row("two").waitFor();
    expect(await page.locator("tbody tr").count()).toBe(1);
    gate.open();
  },
  TEST_MS,
);

test(
  "a running job is cancelled from its page",
  async () => {
    const service = await startService({ behaviour: { wait_for: makeGate().path } });
    putSession(service.dataDir, "s1");
    const jobId = await startLora(service, { session_id: "s1" });
    const page = await openPage(`${service.url}/#/jobs/${jobId}`);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.locator(".page-head").getByText("cancelled").waitFor();
    expect((await service.ended(jobId)).status).toBe("cancelled");
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "a reload in the middle of a job keeps its curve and log, and follows it to its end",
  async () => {
    const gate = makeGate();
    const service = await startService({ behaviour: { steps: 12, wait_for: gate.path, wait_in: "saving" } });
    putSession(service.dataDir, "s1");
    const jobId = await startLora(service, { session_id: "s1", adapter_id: "reloaded" });
    const page = await openPage(`${service.url}/#/jobs/${jobId}`);
    await page.getByRole("img", { name: /^Loss: 12 points/ }).waitFor();
    await page.reload();
    await page.getByRole("img", { name: /^Loss: 12 points/ }).waitFor();
    await page.locator(".log").getByText("training reloaded").waitFor();
    gate.open();
    await page.locator(".page-head").getByText("completed").waitFor();
  },
  TEST_MS,
);

test(
  "after a restart of the service the pages are live again, and a forgotten job is told in a sentence",
  async () => {
    const dataDir = makeFolder();
    putSession(dataDir, "s1");
    const first = await startService({ dataDir, behaviour: { wait_for: makeGate().path } });
    const jobId = await startLora(first, { session_id: "s1" });
    const jobPage = await openPage(`${first.url}/#/jobs/${jobId}`);
    const jobsPage = await openPage(`${first.url}/#/jobs`);
    await jobPage.getByRole("img", { name: /^Loss: 1 points/ }).waitFor();
    await jobsPage.getByRole("button", { name: "Cancel" }).waitFor();

    await first.close(0);
    const second = await startService({ dataDir, flags: { port: Number(new URL(first.url).port) } });
    await jobPage.getByText("Why it failed").waitFor();
    await jobPage.reload();
    await jobPage.getByText("jobs live in memory, and a restart forgets them").waitFor();
    await jobsPage.getByText("No jobs yet.").waitFor();
    await startLora(second, { session_id: "s1", adapter_id: "after-the-restart" });
    await jobsPage.getByRole("link", { name: "after-the-restart" }).waitFor();
  },
  TEST_MS,
);
