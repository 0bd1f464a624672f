import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** Trainings whose peaks are compared with the prediction. Half a step (0) shows the first one's peak, where whole steps take too long. */
const OF_THE_DEFAULT = [
  ["--length", "1024", "--steps", "3"],
  ["--length", "1024", "--steps", "2", "--rank", "64"],
  ["--length", "1024", "--steps", "2", "--no-dequantised"],
  ["--length", "4096", "--steps", "0"],
  ["--length", "4096", "--steps", "0", "--checkpointing"],
  ["--length", "16384", "--steps", "0"],
];
const OF_A_BILLION = [
  ["--length", "1024", "--steps", "0"],
  ["--length", "1024", "--steps", "0", "--no-dequantised", "--rank", "8"],
  ["--length", "2048", "--steps", "0", "--checkpointing", "--rank", "64"],
];

async function measured({ python, model, settings }) {
  const env = { ...process.env, PYTHONPATH: path.join(ROOT, "trainer", "src"), HF_HUB_OFFLINE: "1" };
  const script = path.join(ROOT, "bench", "memory", "measure.py");
  const { stdout } = await run(python, [script, "--model", model, ...settings], { env });
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

const percent = ({ predicted_mb, measured_mb }) => Math.round((predicted_mb / measured_mb - 1) * 100);

export const benchmark = {
  name: "memory",
  description: "peaks of LoRA trainings on a CPU against what memory_model.py predicts; about 10 GB",
  options: { "default-only": { type: "boolean", default: false } },
  async run({ options, print }) {
    const setup = path.join(ROOT, ".imprint", "setup.json");
    if (!existsSync(setup)) throw new Error("npm run setup comes first");
    const { python, default_model, models } = JSON.parse(readFileSync(setup, "utf8"));
    const folder = await mkdtemp(path.join(tmpdir(), "imprint-memory-"));
    const figures = [];
    const all = async (name, model, trainings) => {
      for (const settings of trainings) {
        const figure = { model: name, ...(await measured({ python, model, settings })) };
        figures.push(figure);
        print(
          `${name} ${settings.join(" ")}: predicted ${figure.predicted_mb}, measured ${figure.measured_mb} MB (${percent(figure)} %)`,
        );
      }
    };
    try {
      await all(default_model, models[default_model], OF_THE_DEFAULT);
      if (!options["default-only"]) {
        await run(python, [path.join(ROOT, "bench", "memory", "write_model.py"), folder, models[default_model]]);
        await all("1.1 billion random weights", folder, OF_A_BILLION);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    return figures;
  },
};
