import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { makeModel } from "../../../server/test/support/service.js";
import { expectNoFaults, openPage, provideBrowser, TEST_MS } from "./support/browser.js";
import { makeFolder, makeGate, startService } from "./support/stage.js";

provideBrowser();

const CODER = "qwen2.5-coder-0.5b-instruct";
const PULLS = fileURLToPath(new URL("../../../server/test/fixtures/workers/pulls.mjs", import.meta.url));
const FITS = { fits: true, total_mb: 4800, window: 2048 };
const TOO_LARGE = { fits: false, total_mb: 48_000, window: 256 };

/** A service with the models `test-model`, the default one, and `wide`, too large to be trained. */
const startModels = (pull: object) => {
  const dataDir = makeFolder();
  makeModel(join(dataDir, "models", "wide"));
  const args = [PULLS, JSON.stringify({ pull, trainings: [FITS, TOO_LARGE] }), "serve"];
  return startService({ dataDir, command: { file: process.execPath, args } });
};

test(
  "a model is pulled while its bytes are counted, cancelled, pulled again, and removed once that is confirmed",
  async () => {
    const gate = makeGate();
    const service = await startModels({ wait_for: gate.path });
    const page = await openPage(`${service.url}/#/models`);
    const coder = page.getByRole("row", { name: CODER });
    await page.getByRole("row", { name: "wide" }).getByText("does not fit: 48.0 GB").waitFor();
    await page.getByRole("row", { name: "test-model default" }).getByText("fits: 4.8 GB").waitFor();
    expect(await page.getByRole("row", { name: "test-model default" }).getByRole("button").count()).toBe(0);

    await coder.getByRole("button", { name: "Pull" }).click();
    await coder.getByText("2.0 MB/4.0 MB").waitFor();
    await coder.getByRole("button", { name: "Cancel" }).click();
    await coder.getByRole("button", { name: "Pull" }).click();
    await coder.getByRole("link", { name: "being pulled" }).waitFor();
    gate.open();
    await coder.getByRole("button", { name: "Remove" }).click();
    await coder.getByRole("button", { name: "Keep it" }).click();
    expect(existsSync(join(service.dataDir, "models", CODER))).toBe(true);
    await coder.getByRole("button", { name: "Remove" }).click();
    await coder.getByRole("button", { name: `Remove ${CODER}` }).click();
    await coder.getByRole("button", { name: "Pull" }).waitFor();
    expect(existsSync(join(service.dataDir, "models", CODER))).toBe(false);

    rmSync(gate.path);
    await page.getByLabel("Name or hub id").fill("me/tiny");
    await page.locator("form").getByRole("button", { name: "Pull" }).click();
    await page.getByRole("link", { name: "being pulled" }).click();
    await page.getByRole("heading", { name: "Pull of me/tiny" }).waitFor();
    await page.getByText("2.0 MB/4.0 MB").waitFor();
    await page.getByRole("link", { name: "Jobs" }).click();
    await page.getByRole("row", { name: "me/tiny" }).getByText("2.0 MB/4.0 MB").waitFor();
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "a refused pull is a sentence in its row, a name that nobody knows one on the page, and trainings are offered what fits",
  async () => {
    const fail = { code: "DOWNLOAD_FAILED", message: "the hub cannot be reached", hint: "Pull again." };
    const service = await startModels({ fail });
    const page = await openPage(`${service.url}/#/models`);
    const coder = page.getByRole("row", { name: CODER });
    await coder.getByRole("button", { name: "Pull" }).click();
    await coder.getByText("the hub cannot be reached").waitFor();
    await coder.getByRole("button", { name: "Pull" }).waitFor();
    await page.getByLabel("Name or hub id").fill("nobody");
    await page.locator("form").getByRole("button", { name: "Pull" }).click();
    await page.getByText("The catalogue has no nobody").waitFor();

    await page.goto(`${service.url}/#/train`);
    await page.getByText("Too large for this machine: wide takes 48.0 GB.").waitFor();
    const offered = await page.evaluate("[...document.querySelectorAll('datalist option')].map(({ value }) => value)");
    expect(offered).toContain("test-model");
    expect(offered).not.toContain("wide");
  },
  TEST_MS,
);
