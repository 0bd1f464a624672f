import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { readSetup } from "../../../../packages/server/dist/index.js";
import { startRayHead } from "../../ray-head.mjs";
import { tell } from "../story.mjs";
import { compare } from "./compare.mjs";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const FOLDER = path.join(ROOT, ".imprint", "demo-ray");

/** As many threads as the local runner takes: sums in another order are other bytes. */
function coresOfTrainer() {
  const { python } = readSetup(ROOT);
  const code = "from imprint_trainer.models.device import physical_cores; print(physical_cores())";
  const env = { ...process.env, PYTHONPATH: path.join(ROOT, "trainer", "src") };
  return Number(spawnSync(python, ["-c", code], { env, encoding: "utf8" }).stdout);
}

/** The demo's story with its jobs on a Ray head of this machine, and then the same training on the local runner. */
export async function tellOnRay({ started, signal, out = process.stdout }) {
  out.write("\n  A Ray head starts on this machine.\n");
  const cores = coresOfTrainer();
  rmSync(FOLDER, { recursive: true, force: true });
  const head = await startRayHead({ root: ROOT, cpus: cores, signal });
  try {
    mkdirSync(FOLDER, { recursive: true });
    const tokenFile = path.join(FOLDER, "ray.token");
    writeFileSync(tokenFile, head.token, { mode: 0o600 });
    const flags = {
      runner: "ray",
      ray_address: head.address,
      ray_token_file: tokenFile,
      ray_cpus: cores,
      storage: path.join(FOLDER, "storage"),
    };
    const afterwards = (scene) => compare(scene, { dataDir: path.join(FOLDER, "local") });
    return await tell({ started, signal, out, dataDir: path.join(FOLDER, "data"), flags, afterwards });
  } finally {
    await head.close();
  }
}
