import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { stringify } from "yaml";

const DATE = "2026-01-05T09:00:00Z";
const LIMITS = { turns: 14, seconds: 900 };
const VERIFY = readFileSync(new URL("../verify.py", import.meta.url), "utf8");

/** A Python of the system's before the shims of version managers, which take longer than what they start. */
export const SYSTEM_FIRST = ["/usr/bin", "/bin", process.env.PATH].join(path.delimiter);

/** The same commits from the same files, whoever makes them. */
const ENV = {
  ...process.env,
  ...Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((who) => [
      [`GIT_${who}_NAME`, "Keeper"],
      [`GIT_${who}_EMAIL`, "keeper@example.org"],
      [`GIT_${who}_DATE`, DATE],
    ]),
  ),
  PATH: SYSTEM_FIRST,
  GIT_CONFIG_GLOBAL: os.devNull,
  GIT_CONFIG_SYSTEM: os.devNull,
  PYTHONDONTWRITEBYTECODE: "1",
};

const output = (folder, program, args) =>
  execFileSync(program, args, { cwd: folder, env: ENV, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

/** Runs the commands, each in a shell of its own, one after another, whatever comes of each. */
export function runAll(folder, commands) {
  output(folder, "sh", ["-c", [...commands.map((command) => `(${command})`), "true"].join("\n")]);
}

function write(folder, files) {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
}

/** Gives `work` a copy of a folder, which goes afterwards. */
export function withCopy(folder, work) {
  const copy = mkdtempSync(path.join(os.tmpdir(), "imprint-copy-"));
  try {
    cpSync(folder, copy, { recursive: true });
    return work(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
  }
}

const digest = (file) => {
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .map((line) => line.trim());
  return createHash("sha256").update(lines.filter(Boolean).sort().join("\n")).digest("hex").slice(0, 16);
};

const list = (folder) => output(folder, "git", ["ls-files"]).split("\n").filter(Boolean);

/**
 * Makes the git repository of a plan in `folder`/repository, and beside it `tasks`, held out, and `training`: a file for each task, as
 * `imprint tasks` reads it. Gives the tasks of the files by their names.
 */
export function writeRepository(plan, folder) {
  const { house, files, tasks } = plan;
  const repository = path.join(folder, "repository");
  rmSync(folder, { recursive: true, force: true });
  write(repository, { ".gitignore": "__pycache__/\n", ...files });
  for (const file of house.executable) chmodSync(path.join(repository, file), 0o755);
  for (const command of house.prepare) output(repository, "sh", ["-c", command]);
  output(repository, "git", ["init", "--quiet", "--template=", "--initial-branch=main"]);
  output(repository, "git", ["add", "."]);
  output(repository, "git", ["commit", "--quiet", "--message", "As it was"]);
  const commit = output(repository, "git", ["rev-parse", "HEAD"]).trim();
  const written = new Map();
  for (const task of tasks) {
    const file = taskFile({ house, task, repository, commit, files });
    written.set(task.name, file);
    write(path.join(folder, task.side === "training" ? "training" : "tasks"), { [`${task.name}.yaml`]: stringify(file) });
  }
  return written;
}

/** The task as its file holds it: what the expert's changes leave is what every file is compared with. */
function taskFile({ house, task, repository, commit, files }) {
  return withCopy(repository, (copy) => {
    runAll(copy, task.changes);
    const before = list(copy);
    output(copy, "git", ["add", "--all"]);
    const names = [...new Set([...before, ...list(copy)])].sort();
    const expected = Object.fromEntries(names.map((name) => [name, digest(path.join(copy, name))]));
    const solution = output(copy, "git", ["diff", "--cached", "--binary"]);
    const [, checker] = house.check.split(" ");
    return {
      name: task.name,
      repository: "../repository",
      commit,
      prompt: task.prompt,
      check: `${house.check} && python3 .check/verify.py`,
      check_files: { [checker]: files[checker], ".check/verify.py": VERIFY, ".check/expected.json": JSON.stringify(expected) },
      family: task.family,
      solution,
      limits: LIMITS,
    };
  });
}

/** Whether a result differs from the commit that it began with. */
export const isChanged = (result) => output(result, "git", ["status", "--porcelain"]) !== "";

/** Whether a result passes the task's check, whose files are laid over it: to be asked last. */
export function passes(task, result) {
  write(result, task.check_files);
  try {
    output(result, "sh", ["-c", task.check]);
    return true;
  } catch (error) {
    if (error.status === undefined) throw error;
    return false;
  }
}
