import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pythonTools } from "../../scripts/lib/agents/install.mjs";
import { listedFiles } from "../../scripts/lib/house/files.mjs";
import { run } from "../../scripts/lib/process/run.mjs";
import { cacheFolder } from "../../scripts/lib/setup/environment.mjs";
import { ROOT } from "../../scripts/lib/setup/main.mjs";
import { findPython } from "../../scripts/lib/trainer.mjs";

/** Masks, windows, the loss, the schedule, and what is published. The tests of their rooms are asked. */
const MUTATED = ["data/render.py", "data/windows.py", "lora/loss.py", "lora/schedule.py", "publish"];
const ROOMS = ["tests/data", "tests/lora", "tests/publish"];
const MUTMUT = "mutmut==3.8.1";
const MOST = 200; // mutants of a function: they are numbered

const lines = (values) => values.map((value) => `\n  ${value}`).join("");

/** mutmut's changes in a copy of the tree. */
export async function trainerMutants({ folder, chance, print }) {
  const cwd = path.join(folder, "trainer");
  // mutmut tests a copy below the trainer's folder, whose root is this folder.
  for (const name of readdirSync(folder)) symlinkSync(`../${name}`, path.join(cwd, name));
  const sources = MUTATED.map((name) => `trainer/src/imprint_trainer/${name}`);
  const files = listedFiles(ROOT, sources)
    .filter((file) => file.endsWith(".py"))
    .map((file) => path.posix.relative("trainer", file));
  // Each mutant imports torch anew: its threads do not survive a fork.
  writeFileSync(
    path.join(cwd, "setup.cfg"),
    `[mutmut]\nprocess_isolation=forkserver\nforkserver_warmup=none\nsource_paths=src\nonly_mutate=${lines(files)}\npytest_add_cli_args_test_selection=${lines(ROOMS)}\n`,
  );
  const [python, packages] = [findPython(), path.join(folder, "mutmut")];
  const { uv, uvEnv } = await pythonTools({ root: ROOT, cache: cacheFolder(), env: process.env });
  await run(uv, ["pip", "install", "--quiet", "--python", python, "--target", packages, MUTMUT], { env: uvEnv, name: "uv" });
  const env = { ...process.env, PYTHONPATH: packages, HF_HUB_OFFLINE: "1", OMP_NUM_THREADS: "1" };
  const mutmut = (...args) => run(python, ["-m", "mutmut", ...args], { cwd, env, name: "mutmut" });

  const modules = files.map((file) => file.slice("src/".length, -".py".length).replaceAll("/", "."));
  const names = modules.flatMap((module) => Array.from({ length: MOST }, (_, at) => `${module}.*__mutmut_${at + 1}`));
  print("All tests run once, then each mutant's.");
  await mutmut("run", "--max-children", String(os.availableParallelism()), ...names.filter(chance));
  const { stdout } = await mutmut("results", "--all", "true");
  const tried = [];
  for (const [, name, status] of stdout.matchAll(/^ *(\S+): (killed|timeout|segfault|survived|no tests)$/gm)) {
    const noticed = !["survived", "no tests"].includes(status);
    tried.push({ noticed, what: noticed ? name : (await mutmut("show", name)).stdout });
  }
  return tried;
}
