import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { readSetup } from "../../../../packages/server/dist/index.js";
import { startRayHead } from "../../ray-head.mjs";
import { follow } from "../follow.mjs";
import { startDemoService } from "../service.mjs";
import { tell } from "../story.mjs";

const EXAMPLE = new URL("../../../../examples/sessions/harborline-gates.json", import.meta.url);

const hashesOf = (folder) =>
  Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((name) => [
        name,
        createHash("sha256")
          .update(readFileSync(path.join(folder, name)))
          .digest("hex"),
      ]),
  );

/** Figures of a proof that are measurements of the machine, not of the adapter. */
const ofAdapter = ({ seconds: _, peak_memory_mb: __, ...proof }) => proof;

/** Trains the same on the local runner, and compares. Resolves with every difference, in a sentence. */
async function compare({ paper, signal, out, dataDir: rayData, adapter, job }, { dataDir }) {
  paper.step("The same training on the local runner");
  const local = await startDemoService({ dataDir });
  try {
    const scene = { ...local, paper, signal, out };
    const { sessions } = await local.client.sessions.create(readFileSync(EXAMPLE), { signal });
    const request = { session_id: sessions[0].session_id, seed: 1, adapter_id: adapter.adapter_id };
    const { job_id } = await local.client.train.lora(request, { signal });
    const done = await follow(scene, job_id);
    const there = await local.client.adapters.get(adapter.adapter_id, { signal });
    const [ray, here] = [hashesOf(path.join(rayData, adapter.path)), hashesOf(path.join(dataDir, there.path))];
    const names = [...new Set([...Object.keys(ray), ...Object.keys(here)])].toSorted();
    for (const name of names) paper.item(`${ray[name] === here[name] ? "equal to the byte" : "DIFFERENT        "}  ${name}`);
    const different = names.filter((name) => ray[name] !== here[name]);
    return [
      different.length > 0 && `These files differ between the cluster and this machine: ${different.join(", ")}.`,
      !isDeepStrictEqual(ofAdapter(job.proof), ofAdapter(done.proof)) &&
        "The proofs differ between the cluster and this machine.",
    ].filter(Boolean);
  } finally {
    await local.close();
  }
}

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
