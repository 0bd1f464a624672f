import { expect, test } from "vitest";
import { expectNoFaults, openPage, provideBrowser, TEST_MS } from "./support/browser.js";
import { makeFolder, putSession, type Service, startLora, startService } from "./support/stage.js";

provideBrowser();

const HELD_OUT = { sessions: ["s3"], whole: true, windows: 2, tokens: 2000, supervised_tokens: 900 };
const MEMORY = {
  weights_mb: 538,
  activations_mb: 9140,
  optimizer_mb: 78,
  logits_mb: 75,
  total_mb: 10_400,
  available_mb: 8000,
  fits: false,
  suggestion: "It fits with max_length 2048 and rank 8: 6.1 GB of 8.0 GB.",
};

const startWith = async (behaviour: object): Promise<Service> => {
  const dataDir = makeFolder();
  for (const id of ["s1", "s2", "s3"]) putSession(dataDir, id);
  return startService({ dataDir, behaviour });
};

test(
  "a training with held-out text shows both curves with a legend, and what the held-out loss did",
  async () => {
    const proof = { held_out: { tokens: 900, loss_before: 2, loss_after: 2.4, interval: [0.2, 0.6] } };
    const sessions = ["s1", "s2", "s3"].map((session_id) => ({ session_id }));
    const training = { held_out_losses: [2, 1.9, 2.4], plan: { held_out: HELD_OUT }, sessions };
    const service = await startWith({
      steps: 4,
      sizes: { held_out: HELD_OUT },
      held_out_losses: [2, 2, 1.9, 2.4],
      proof,
      training,
    });
    const jobId = await startLora(service, { session_ids: ["s1", "s2", "s3"], adapter_id: "mine" });
    await service.ended(jobId);

    const page = await openPage(`${service.url}/#/jobs/${jobId}`);
    await page.getByRole("img", { name: "Loss: 4 points, Training from 2.5 to 0.625; Held out from 2 to 2.4" }).waitFor();
    const plot = page.getByRole("figure").filter({ hasText: /^Loss/ });
    expect(await plot.getByRole("listitem").allTextContents()).toEqual(["Training 0.625", "Held out 2.4"]);
    await page.getByText("900 supervised tokens in 2 windows of s3").waitFor();
    const card = page.getByRole("region", { name: "Proof" });
    await card.getByText("but the held-out loss rose 2 → 2.4, +20 %: it makes the model worse on work").waitFor();
    await card.getByText("2 → 2.4 (+20 %; 95 % interval +0.2 to +0.6) over 900 supervised tokens").waitFor();
    expect(await card.getAttribute("data-tone")).toBe("doubtful");
    expect(await card.locator('[data-tone="good"], :text("✓")').count()).toBe(0);

    await page.goto(`${service.url}/#/adapters/mine`);
    await page.getByRole("img", { name: "Loss: 5 points, Training from 2.5 to 0.625; Held out from 2 to 2.4" }).waitFor();
    await page.getByText("Choose sessions, a control").click();
    const offered = page.getByRole("group", { name: "Sessions" });
    await offered.getByLabel("s3").waitFor();
    expect(await offered.getByLabel("s1").count()).toBe(0);
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "a preview of many sessions counts their turns, and shows turns and text when they are asked for",
  async () => {
    const turns = Array.from({ length: 40 }, (_, at) => ({
      session_id: `s${at % 4}`,
      turn: at,
      supervised: at % 4 > 0,
      reason: at % 4 > 0 ? null : "duplicate_turn",
      text: `turn ${at}`,
    }));
    const service = await startWith({ turns });
    const page = await openPage(`${service.url}/#/train?session=s1`);
    await page.getByRole("button", { name: "Preview" }).click();
    const table = page.getByRole("region", { name: "Turns by session" });
    await table.getByRole("row", { name: "s0 0 10" }).waitFor();
    await table.getByRole("row", { name: "s3 10 0" }).waitFor();
    expect(await page.locator("pre mark").count()).toBe(0);
    expect(await page.getByText("turn 39").count()).toBe(0);
    await page.getByText("Turns of the agent (40)").click();
    await page.getByRole("row", { name: "s3 39 yes turn 39" }).waitFor();
    await page.getByText("The text, marked where it is learned").click();
    await page.locator("pre mark").waitFor();
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "windows that a preview has no room for are shown when they are asked for",
  async () => {
    const windows = ["one", "two", "three"].map((text) => [{ text: `window ${text}`, supervised: true, tokens: 9 }]);
    const service = await startWith({ windows, sizes: { windows: 3 } });
    const page = await openPage(`${service.url}/#/train?session=s1`);
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("2 more windows.").waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("1 more window.").waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByRole("button", { name: "Show more" }).waitFor({ state: "detached" });
    expect(await page.locator("pre mark").allTextContents()).toEqual(["window one", "window two", "window three"]);
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "the form says what each profile is for and what it harms, holds text out, and takes over settings that fit",
  async () => {
    const remark = "A remark on what to know before the start.";
    const service = await startWith({ sizes: { held_out: HELD_OUT, remarks: [remark] }, memory: MEMORY });
    const page = await openPage(`${service.url}/#/train?session=s1`);
    const remember = page.getByRole("radio", { name: /^remember .* Makes it worse at everything else/ });
    const learn = page.getByRole("radio", { name: /^learn .* Does not repeat them exactly/ });
    expect(await remember.isChecked()).toBe(true);
    for (const id of ["s2", "s3"]) await page.getByRole("checkbox", { name: id }).check();
    expect(await learn.isChecked()).toBe(true);

    await page.getByLabel("Held out", { exact: true }).selectOption("share");
    const share = page.getByLabel("Share held out, at most 0.5");
    await share.fill("0.7");
    const preview = page.getByRole("button", { name: "Preview" });
    await preview.click();
    await page.getByText("must be <= 0.5").waitFor();
    await share.fill("");
    await preview.click();
    await page.getByText("must be <= 0.5").waitFor({ state: "detached" });
    await page.getByText(/^must be one of .* or number/).waitFor();

    await page.getByLabel("Held out", { exact: true }).selectOption("sessions");
    const held = page.getByRole("group", { name: "Sessions held out" });
    expect(await held.getByRole("checkbox", { name: "s3" }).isChecked()).toBe(true);
    await held.getByRole("checkbox", { name: "s2" }).check();
    await preview.click();
    await page.getByText("900 supervised tokens in 2 windows of s3").waitFor();
    await page.getByText(remark).waitFor();
    await page.getByText("It does not fit: at its peak about 10.4 GB of 8.0 GB.").waitFor();
    const again = page.waitForRequest((sent) => sent.url().endsWith("/train/lora/preview") && sent.postDataJSON().rank === 8);
    await page.getByRole("button", { name: "Use these settings" }).click();
    await again;
    expect(await page.getByLabel("Rank").inputValue()).toBe("8");

    await remember.check();
    await page.getByRole("button", { name: "Start training" }).click();
    await page.getByText("Request as resolved").waitFor();
    const [job] = service.jobs.list({ limit: 1 }).jobs;
    expect(job?.request).toMatchObject({ profile: "remember", holdout: ["s3", "s2"], rank: 8, max_length: 2048 });
    expectNoFaults(page);
  },
  TEST_MS,
);
