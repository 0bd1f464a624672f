import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { shipOnce } from "../../../src/runners/ray/storage.js";
import { openStore } from "../../../src/runners/ray/stores/open.js";
import type { Store } from "../../../src/runners/ray/stores/store.js";
import { CREDENTIALS, type S3Server, startS3Server } from "../../fixtures/s3/server.js";
import { loraTask, startWatched, temporaryFolder, type Watched } from "../support.js";
import { headOf, PYTHON, rayRunnerOn, SOURCES } from "./support.js";

let server: S3Server;
beforeAll(async () => {
  Object.assign(process.env, CREDENTIALS);
  server = await startS3Server(PYTHON);
});
afterAll(() => server.close());

test("first", async () => {
  const onNodes = join(temporaryFolder(), "copy");
  const store = openStore({ type: "s3", url: "s3://imprint-test/some/where", endpoint: server.endpoint, onNodes }, { sources: SOURCES, env: process.env });
  const t=Date.now();
  const name = await shipOnce(store, "trainer", SOURCES);
  console.log("shipped", Date.now()-t);
  const head = await headOf({ nodeEnv: CREDENTIALS });
  const runner = rayRunnerOn({ address: head.address, store, pollMs: 100, sources: async () => ({ name, onNodes: join(onNodes, name) }) });
  const watched = startWatched(runner, loraTask({ output_dir: temporaryFolder() }));
  console.log(JSON.stringify(await watched.outcome).slice(0,500), Date.now()-t);
  console.log(JSON.stringify(head.submissions).slice(0,1500));
});
