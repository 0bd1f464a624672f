import { expect, test } from "vitest";
import { expectNoFaults, openPage, provideBrowser, TEST_MS } from "./support/browser.js";
import { makeFolder, makeGate, putSession, type Service, startLora, startService } from "./support/stage.js";

provideBrowser();

/** A service with the adapter `mine`, trained on `seen`, a control `other`, and `unseen`, which nobody has seen. */
const startWithAdapter = async (evaluate: object = {}): Promise<Service> => {
  const dataDir = makeFolder();
  for (const id of ["seen", "elsewhere", "unseen"]) putSession(dataDir, id);
  const service = await startService({ dataDir, behaviour: { evaluate } });
  await service.ended(await startLora(service, { session_id: "seen", adapter_id: "mine" }));
  await service.ended(await startLora(service, { session_id: "elsewhere", adapter_id: "other" }));
  return service;
};

const figures = (row: string, adapter_id: string | null, loss: number, change: number | null, interval: number[] | null) => ({
  ...{ row, adapter_id, tokens: 240, loss, median: loss / 4, median_of_turns: loss, top1: 0.6, change, interval },
  kinds: [{ kind: "tool_name", tokens: 20, loss: loss - 0.5, top1: 0.9 }],
  sessions: [{ session_id: "unseen", loss }],
});

const HELPS = {
  sentence: "It helps: on 1 session that it was not trained on.",
  sessions: [
    { session_id: "unseen", sha256: "0".repeat(64), windows: 2, supervised_tokens: 240, dropped_turns: 0, near_copy_of: null },
  ],
  rows: [
    figures("base", null, 2.1, null, null),
    figures("adapter", "mine", 1.9, -0.2, [-0.28, -0.12]),
    figures("context", null, 1.95, -0.15, [-0.2, -0.1]),
    figures("control", "other", 1.9, -0.2, [-0.28, -0.12]),
  ],
  neutral: [{ name: "prose", loss_before: 3.1, loss_after: 3.12 }],
  actions: {
    sampled: 2,
    base: { valid_call: 1, same_tool: 1, same_arguments: 0, same_file: 0, loop: 0 },
    adapter: { valid_call: 2, same_tool: 1, same_arguments: 1, same_file: 1, loop: 0 },
    p_values: { valid_call: 1, same_tool: 1, same_arguments: 1, same_file: 1, loop: 1 },
  },
};

const evaluated = async (service: Service): Promise<void> => {
  const response = await service.post("/adapters/mine/evaluate", { session_ids: ["unseen"] });
  await service.ended(response.json<{ job_id: string }>().job_id);
};

test(
  "an adapter is evaluated from its page: cancelled, then measured against a control, with the verdict first",
  async () => {
    const gate = makeGate();
    const service = await startWithAdapter({ wait_for: gate.path, evaluation: HELPS });
    const page = await openPage(`${service.url}/#/adapters/mine`);
    await page.getByText("Never evaluated").waitFor();
    const evaluate = page.getByRole("button", { name: "Evaluate", exact: true });
    await page.getByText("Choose sessions, a control").click();
    const sessions = page.getByRole("group", { name: "Sessions" });
    await sessions.getByLabel("unseen").check();
    expect(await sessions.getByLabel("seen", { exact: true }).count()).toBe(0);
    await page.getByLabel("Control adapter").selectOption("other");
    await page.getByLabel("Actions").fill("201");
    await evaluate.click();
    await page.getByText("must be <= 200").waitFor();
    await page.getByLabel("Actions").fill("2");
    await evaluate.click();
    await page.getByRole("progressbar", { name: "Progress of the evaluation" }).waitFor();
    await page.getByText("0/7 · loss of the base model").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("progressbar").waitFor({ state: "detached" });
    await page.getByText("Never evaluated").waitFor();

    await evaluate.click();
    await page.getByRole("link", { name: "Being evaluated" }).waitFor();
    gate.open();
    await page.getByText("It helps: on 1 session").waitFor();
    await page.getByRole("link", { name: "The whole evaluation" }).click();

    await page.getByRole("heading", { name: "Verdict: helps" }).waitFor();
    const plot = page.getByRole("figure", { name: /^Change of the loss on unseen sessions/ });
    expect(await plot.locator("dt").allTextContents()).toEqual([
      "Base model",
      "With the adapter",
      "Training session in the prompt",
      "With the control other",
    ]);
    await plot.getByText("−0.2 (−0.28 to −0.12): better").first().waitFor();
    const table = (name: string) => page.getByRole("region", { name });
    await table("Kinds of tokens")
      .getByRole("row", { name: /^tool name 20 1.6, 90 % right 1.4, 90 % right/ })
      .waitFor();
    await table("Sessions tested on")
      .getByRole("row", { name: /^unseen 240 2.1 1.9 \(−0.2\)/ })
      .waitFor();
    await table("Neutral texts").getByRole("row", { name: "prose 3.1 3.12 +0.02" }).waitFor();
    await table("Next actions").getByRole("row", { name: "A call that can be read 1 of 2 (50 %) 2 of 2 (100 %) 1" }).waitFor();

    await page.reload();
    await page.getByRole("heading", { name: "Verdict: helps" }).waitFor();
    expectNoFaults(page);
  },
  TEST_MS,
);

test.each([
  ["harms", "bad", "The adapter harms: text of the test.", [0.1, 0.3], "+0.2 (+0.1 to +0.3): worse"],
  ["no_evidence", "doubtful", "No evidence: text of the test.", [-0.1, 0.3], "+0.2 (−0.1 to +0.3): may be chance"],
  ["too_little_to_tell", "doubtful", "Too little to tell: on 2 sessions.", [-2, 2.4], "+0.2 (−2 to +2.4): may be chance"],
] as const)(
  "the verdict %s is as plain as one that helps: in the list, on the adapter's page and on the job's",
  async (verdict, tone, sentence, interval, meaning) => {
    const row = (name: string, figures: object) => ({
      row: name,
      adapter_id: null,
      tokens: 240,
      loss: 2,
      top1: 0.5,
      change: null,
      interval: null,
      kinds: [],
      sessions: [],
      ...figures,
    });
    const rows = [row("base", {}), row("adapter", { adapter_id: "mine", change: 0.2, interval })];
    const service = await startWithAdapter({ evaluation: { verdict, sentence, rows } });
    await evaluated(service);
    const page = await openPage(`${service.url}/#/adapters`);
    const word = verdict.replaceAll("_", " ");
    const shown = page.getByRole("row", { name: /mine/ }).getByText(word, { exact: true });
    expect(await shown.getAttribute("data-tone")).toBe(tone);
    await page.getByRole("row", { name: /other/ }).getByText("not evaluated").waitFor();

    await page.goto(`${service.url}/#/adapters/mine`);
    const card = page.getByRole("region", { name: "Does it help on other sessions?" });
    await card.getByText(sentence).waitFor();
    expect(await card.getAttribute("data-tone")).toBe(tone);

    await page.goto(`${service.url}/#/jobs`);
    const job = page.getByRole("row", { name: /evaluate · unseen/ });
    await job.getByText(word, { exact: true }).waitFor();
    await job.getByRole("link", { name: "mine" }).click();
    await page.getByRole("heading", { name: "Evaluation of mine" }).waitFor();
    await page.getByRole("heading", { name: `Verdict: ${word}` }).waitFor();
    await page.getByText(sentence).waitFor();
    await page.getByText(meaning).waitFor();
    expect(await page.locator("canvas").count()).toBe(0);
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "an evaluation that is refused or fails says why on the adapter's page, and an adapter without one has no page of it",
  async () => {
    const fail = { code: "OUT_OF_MEMORY", message: "The machine has too little memory.", hint: "Close other programs." };
    const service = await startWithAdapter({ fail });
    const page = await openPage(`${service.url}/#/adapters/mine/evaluation`);
    await page.getByText("imprint evaluate mine does it").waitFor();
    await page.getByRole("link", { name: "Adapter", exact: true }).click();
    await page.getByRole("button", { name: "Evaluate", exact: true }).click();
    await page.getByRole("alert").getByText("import a later one").waitFor();
    await evaluated(service);
    await page.getByText("The last evaluation failed: The machine has too little memory.").waitFor();
  },
  TEST_MS,
);
