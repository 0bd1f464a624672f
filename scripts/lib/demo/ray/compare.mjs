import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { follow } from "../follow.mjs";
import { startDemoService } from "../service.mjs";

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
export async function compare({ paper, signal, out, dataDir: rayData, adapter, job }, { dataDir }) {
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
