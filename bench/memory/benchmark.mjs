import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { run } from "../../scripts/lib/process/run.mjs";
import { defaultModel, findPython, trainerEnvironment } from "../../scripts/lib/trainer.mjs";

/** Trainings whose peaks are compared with the prediction. From the second step on the heap holds more. */
const OF_THE_DEFAULT = [
  ["--length", "1024", "--steps", "3"],
  ["--length", "1024", "--steps", "3", "--rank", "64"],
  ["--length", "2048", "--steps", "3"],
  ["--length", "4096", "--steps", "3"],
  ["--length", "16384", "--steps", "1"],
  ["--length", "1024", "--steps", "3", "--no-dequantised"],
  ["--length", "1024", "--steps", "3", "--checkpointing"],
  ["--length", "2048", "--steps", "3", "--checkpointing"],
  ["--length", "4096", "--steps", "3", "--checkpointing"],
];
const OF_A_BILLION = [
  ["--length", "1024", "--steps", "2"],
  ["--length", "1024", "--steps", "2", "--no-dequantised", "--rank", "8"],
  ["--length", "2048", "--steps", "2", "--checkpointing", "--rank", "64"],
];

async function measured({ model, settings }) {
  const { stdout } = await run(findPython(), ["-m", "imprint_bench.memory", "--model", model, ...settings], {
    env: trainerEnvironment(),
  });
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

const percent = ({ predicted_mb, measured_mb }) => Math.round((predicted_mb / measured_mb - 1) * 100);

export const benchmark = {
  name: "memory",
  description: "peaks of LoRA trainings on a CPU against what memory_model.py predicts; about 10 GB",
  options: {},
  async run({ print }) {
    const base = defaultModel();
    const folder = await mkdtemp(path.join(tmpdir(), "imprint-memory-"));
    const figures = [];
    const all = async (name, model, trainings) => {
      for (const settings of trainings) {
        const figure = { model: name, ...(await measured({ model, settings })) };
        figures.push(figure);
        print(
          `${name} ${settings.join(" ")}: predicted ${figure.predicted_mb}, measured ${figure.measured_mb} MB (${percent(figure)} %)`,
        );
      }
    };
    try {
      await all(path.basename(base), base, OF_THE_DEFAULT);
      await run(findPython(), ["-m", "imprint_bench.random_model", folder, base], { env: trainerEnvironment() });
      await all("1.1 billion random weights", folder, OF_A_BILLION);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    return figures;
  },
};
