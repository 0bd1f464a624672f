import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { startDemoService } from "../../scripts/lib/demo/service.mjs";
import { processorSeconds } from "../chat/processes.mjs";

const TEXTS = new URL("../../docs/adr/", import.meta.url);
const SIZES = [512, 16_384];
const MS = 1000;

const texts = () =>
  readdirSync(TEXTS)
    .sort()
    .map((name) => readFileSync(new URL(name, TEXTS), "utf8"));

/** Seconds from the request to the job's end, of the clock and of the service's processes, and between its phases. */
async function imprint({ client, base_model }, session_id) {
  const [began, spent] = [performance.now(), processorSeconds()];
  const { job_id } = await client.train.hypernetwork({ trajectory_ids: [session_id], base_model, keep_harmful: true });
  const phases = {};
  let phase = { name: "queued", at: began };
  for await (const event of client.jobs.events(job_id)) {
    const name = event.type === "status" ? event.job.phase : null;
    if (name === null || name === phase.name) continue;
    phases[phase.name] = (performance.now() - phase.at) / MS;
    phase = { name, at: performance.now() };
  }
  phases[phase.name] = (performance.now() - phase.at) / MS;
  const job = await client.jobs.waitFor(job_id);
  if (job.status !== "completed") throw new Error(`The imprint failed: ${job.error?.message ?? job.status}`);
  const seconds = (performance.now() - began) / MS;
  const { coverage, scale } = job.proof.imprint;
  return { seconds, processor: processorSeconds() - spent, load: os.loadavg()[0], tokens: coverage.tokens, scale, phases };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const tenths = (value) => Number(value.toFixed(2));

export const benchmark = {
  name: "imprint",
  description:
    "seconds from a request to a proved imprint, through the service, its trainer warm; sessions of 512 and 16k tokens",
  options: {},
  async run({ rounds, print }) {
    const dataDir = mkdtempSync(path.join(os.tmpdir(), "imprint-bench-"));
    const service = await startDemoService({ dataDir });
    const asked = { client: service.client, base_model: service.baseModel };
    const store = async (tokens, turn) => {
      const { session_id } = await service.client.sessions.create(chatOf({ texts: texts(), tokens, turn }), {
        outcome: "success",
      });
      return session_id;
    };
    try {
      await imprint(asked, await store(SIZES[0], "warm"));
      const figures = {};
      for (const size of SIZES) {
        const found = [];
        for (let round = 0; round < rounds; round += 1) found.push(await imprint(asked, await store(size, String(round))));
        figures[size] = {
          rounds: found,
          seconds: tenths(median(found.map((one) => one.seconds))),
          processor: tenths(median(found.map((one) => one.processor))),
        };
        const phases = Object.entries(found.at(-1).phases).map(([name, seconds]) => `${name} ${tenths(seconds)}`);
        print(
          `${size} tokens: ${figures[size].seconds} s, ${figures[size].processor} s of processor (medians of ${rounds}), ` +
            `${found.at(-1).tokens} tokens read; load ${found.map(({ load }) => load.toFixed(1)).join(", ")}; last: ${phases.join(", ")}`,
        );
      }
      return figures;
    } finally {
      await service.close();
      rmSync(dataDir, { recursive: true });
    }
  },
};

const CHARACTERS = 4; // of a token, about

/** A chat as a client records it, of about so many tokens: turns of an agent that are the texts, one after another. */
export function chatOf({ texts, tokens, turn }) {
  const messages = [];
  for (let left = tokens * CHARACTERS, at = 0; left > 0; at += 1) {
    const content = `${at + 1}. ${texts[at % texts.length]}`.slice(0, left); // numbered: what is said twice is learned once
    messages.push({ role: "user", content: `Go on (${turn}).` }, { role: "assistant", content });
    left -= content.length;
  }
  return JSON.stringify({ messages });
}
