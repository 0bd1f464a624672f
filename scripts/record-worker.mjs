// Records what the real trainer says, for the tests' fake to say again: one file a request in
// packages/server/test/fixtures/recordings; of NAME alone where it is given. Run by hand after the protocol or what the trainer sends has changed; takes a minute.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { recordWorker } from "./test/support/recording.mjs";

const root = join(import.meta.dirname, "..");
const folder = join(root, "packages/server/test/fixtures/recordings");
const setup = JSON.parse(await readFile(join(root, ".imprint/setup.json"), "utf8"));

await mkdir(folder, { recursive: true });
for (const [name, events] of Object.entries(await recordWorker({ root, setup, only: process.argv[2] }))) {
  await writeFile(join(folder, `${name}.ndjson`), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  console.log(`${name}: ${events.length} events`);
}
