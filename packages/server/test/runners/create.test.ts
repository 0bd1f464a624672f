import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/common/clock.js";
import { baseModelsOf } from "../../src/models/base-model.js";
import { createRunner, trainerCommand } from "../../src/runners/create.js";
import { localPlaces } from "../../src/runners/reference.js";
import { dataPaths } from "../../src/storage/paths.js";
import { quietLog } from "../common/quiet-log.js";
import { configFor, makeFolder } from "../support/service.js";
import { loraTask, outcomeOf } from "./support.js";

const WRITE_ENVIRONMENT = "require('node:fs').writeFileSync(process.argv[1], JSON.stringify(process.env))";

/** The environment that a service with this setting gives its trainer. */
const environmentWith = async (allow_downloads: boolean): Promise<Record<string, string>> => {
  const folder = makeFolder();
  const seen = join(folder, "environment.json");
  const runner = createRunner({
    config: configFor(folder, { allow_downloads }),
    command: { file: process.execPath, args: ["-e", WRITE_ENVIRONMENT, seen] },
    places: localPlaces({ paths: dataPaths(folder), models: baseModelsOf(configFor(folder)), hypernetworks: [folder, folder] }),
    clock: systemClock(),
    log: quietLog(),
  });
  expect(await outcomeOf(runner, loraTask())).toMatchObject({ type: "failed", error: { code: "WORKER_START_FAILED" } });
  return JSON.parse(readFileSync(seen, "utf8"));
};

test("the setting alone decides whether the trainer may download, wherever it was set", async () => {
  expect(await environmentWith(true)).toMatchObject({ IMPRINT_ALLOW_DOWNLOADS: "1" });
  expect(await environmentWith(true)).not.toHaveProperty("HF_HUB_OFFLINE");
  expect(await environmentWith(false)).toMatchObject({ HF_HUB_OFFLINE: "1", TRANSFORMERS_OFFLINE: "1" });
  expect(await environmentWith(false)).not.toHaveProperty("IMPRINT_ALLOW_DOWNLOADS");
});

test("the trainer keeps digests of base models in the data directory", () => {
  const folder = makeFolder();
  const command = trainerCommand(configFor(folder, { python: process.execPath }));
  expect(command?.args).toEqual(["-m", "imprint_trainer", "serve", "--digests", join(folder, "digests.json")]);
});
