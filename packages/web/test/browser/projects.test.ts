import { expect, test } from "vitest";
import { putDays, run, runEnded, startRun } from "../../../server/test/projects/support.js";
import { expectNoFaults, openPage, provideBrowser, TEST_MS } from "./support/browser.js";
import { makeGate, startService } from "./support/stage.js";

provideBrowser();

const figures = (name: string, adapter_id: string | null, loss: number, change: number | null, interval: number[] | null) => ({
  ...{ row: name, adapter_id, tokens: 240, loss, top1: 0.6, change, interval, kinds: [] },
  sessions: [{ session_id: "two", loss }],
});

const HELPS = {
  sentence: "It helps: on 1 session that it was not trained on.",
  rows: [figures("base", null, 2, null, null), figures("adapter", "shop-1", 1.7, -0.3, [-0.4, -0.22])],
  neutral: [{ name: "prose", loss_before: 3.1, loss_after: 3.1 }],
};

test(
  "a project's verdicts stand run by run; a run begun on its page is followed to its end, and the latest goes back by a button",
  async () => {
    const gate = makeGate();
    const service = await startService({ behaviour: { evaluate: { evaluation: HELPS, wait_for: gate.path } } });
    putDays(service, ["one", "two", "three"]);
    const page = await openPage(`${service.url}/#/projects`);
    await page.getByText("No projects yet.").waitFor();
    await startRun(service, "shop", { session_ids: ["one", "two"], folders: ["/home/me/recorded"], rank: 4 });

    await page.reload();
    await page.getByRole("region", { name: "Projects" }).getByText("none yet").waitFor();
    await page.getByRole("link", { name: "shop", exact: true }).click();
    await page.getByRole("heading", { name: "No adapter yet" }).waitFor();
    await page.getByText("/home/me/recorded").waitFor();
    const runs = page.getByRole("region", { name: "Runs" }).last();
    await runs
      .getByRole("row", { name: /shop-1/ })
      .getByText("evaluating")
      .waitFor();
    expect(await page.getByRole("button", { name: "A run goes on" }).isDisabled()).toBe(true);
    await runs.getByRole("link", { name: "its job" }).waitFor();
    gate.open();
    await page.getByRole("heading", { name: "Latest: shop-1" }).waitFor();
    await page.getByText("shop@latest", { exact: true }).waitFor();
    await runs
      .getByRole("row", { name: /shop-1/ })
      .getByText("−15 % (−20 % to −11 %)")
      .waitFor();

    const start = page.getByRole("button", { name: "Train on what is new" });
    await start.click();
    await page.getByText("Nothing to train for shop: every session was trained or tested on already.").waitFor();
    await run(service, "shop", { session_ids: ["three"] });
    await page.getByRole("heading", { name: "Latest: shop-2" }).waitFor();
    const plot = page.getByRole("figure", { name: /^Change of the loss on held-out sessions, run by run/ });
    expect(await plot.locator("dt").allTextContents()).toEqual(["Run 1, shop-1", "Run 2, shop-2"]);
    await plot.getByText("−0.3 (−0.4 to −0.22): better").first().waitFor();

    await page.getByRole("button", { name: "Make it the latest: shop-1" }).click();
    await page.getByText("shop@latest is shop-1 now.").waitFor();
    await page.getByRole("heading", { name: "Latest: shop-1" }).waitFor();
    await page.getByRole("button", { name: "Make it the latest: shop-2" }).waitFor();

    putDays(service, ["four"], 4);
    await startRun(service, "shop", { session_ids: ["four"] });
    await runEnded(service, "shop");
    await page.goto(`${service.url}/#/projects`);
    const row = page.getByRole("region", { name: "Projects" }).getByRole("row", { name: /shop/ });
    expect(await row.getByText("helps", { exact: true }).getAttribute("data-tone")).toBe("good");
    await row.getByRole("link", { name: "shop-3" }).waitFor();
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "a run that harms or fails is as plain, leaves the latest, and a project that is not there says how to make it",
  async () => {
    const harms = { verdict: "harms", sentence: "The adapter harms: text of the test." };
    const service = await startService({ behaviour: { evaluate: { evaluation: harms } } });
    putDays(service, ["one", "two"]);
    await run(service, "shop", { session_ids: ["one", "two"] });
    const page = await openPage(`${service.url}/#/projects/shop`);
    const chip = page.getByRole("row", { name: /shop-1/ }).getByText("harms", { exact: true });
    await chip.waitFor();
    expect(await chip.getAttribute("data-tone")).toBe("bad");
    await page.getByRole("heading", { name: "No adapter yet" }).waitFor();

    await page.getByRole("button", { name: "Delete", exact: true }).click();
    const question = page.getByRole("dialog", { name: "Delete the project shop?" });
    await question.getByText("shop@latest").waitFor();
    await question.getByRole("button", { name: "Keep it" }).click();
    expect((await service.get("/projects/shop")).statusCode).toBe(200);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await question.getByRole("button", { name: "Delete the project" }).click();
    await page.getByText("No projects yet.").waitFor();
    expect((await service.get("/projects/shop")).statusCode).toBe(404);
    expectNoFaults(page);

    const nowhere = await openPage(`${service.url}/#/projects/nowhere`);
    await nowhere.getByRole("alert").getByText("There is no project").waitFor();
  },
  TEST_MS,
);

test(
  "ticked sessions become a project, and its first run begins",
  async () => {
    const service = await startService();
    putDays(service, ["one", "two"]);
    const page = await openPage(`${service.url}/#/projects`);
    await page.getByText("No projects yet.").getByRole("link", { name: "sessions" }).click();
    for (const id of ["one", "two"]) await page.getByRole("checkbox", { name: `Choose ${id}` }).check();
    const name = page.getByLabel("Name of a project");
    const make = page.getByRole("button", { name: "Make a project of them" });
    await name.fill("No Name");
    await make.click();
    await page.getByRole("alert").filter({ hasText: "name" }).waitFor();
    await name.fill("shop");
    await make.click();
    await page.getByRole("heading", { name: "shop", level: 1 }).waitFor();
    await page.getByRole("link", { name: "shop-1" }).first().waitFor();
    expect((await service.get("/projects/shop")).json()).toMatchObject({ sessions: 2 });
  },
  TEST_MS,
);
