import { readFile, realpath, rm } from "node:fs/promises";
import path from "node:path";
import { TASK_LIMITS, Task, TaskLimits } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import { Command } from "commander";
import { stringify } from "yaml";
import { type CommandContext, type CommonOptions, type NewCommand, newCommand, printerOf } from "../context.js";
import { CommandError, UsageError } from "../errors.js";
import { parseFlag } from "../flags/text.js";
import { waitingFor } from "../output/printer.js";
import { table } from "../output/table.js";
import { plain } from "../output/text.js";
import { type Verified, verifyTask, wrongWith } from "../tasks/check.js";
import { git } from "../tasks/git.js";
import { makeCommand } from "../tasks/make/command.js";
import { findSandbox } from "../tasks/sandbox/find.js";
import { isInside, type LoadedTask, readTasks, writeTask } from "../tasks/task-file.js";
import { isGit, isUrl } from "../tasks/workspace.js";

interface TasksOptions extends CommonOptions {
  readonly in: string;
}

export function tasksCommand(context: CommandContext): Command {
  return new Command("tasks")
    .description("list, add, remove or check tasks: what agents are measured by")
    .addCommand(listCommand(context), { isDefault: true })
    .addCommand(addCommand(context))
    .addCommand(showCommand(context))
    .addCommand(removeCommand(context))
    .addCommand(makeCommand(context))
    .addCommand(checkCommand(context));
}

const newTasksCommand = (about: Omit<NewCommand, "service">): Command =>
  newCommand({ ...about, service: "none" }).option("--in <folder>", "where the tasks' files are", "tasks");

/** The tasks of these names, or all. Throws a UsageError for a name that none has. */
async function tasksCalled(names: readonly string[], folder: string): Promise<readonly LoadedTask[]> {
  const all = await readTasks(folder);
  const missing = names.filter((name) => !all.some(({ task }) => task.name === name));
  if (missing.length > 0)
    throw new UsageError(`there is no task ${missing.join(", ")} in ${folder}: imprint tasks lists what is there`);
  return names.length === 0 ? all : all.filter(({ task }) => names.includes(task.name));
}

const listCommand = (context: CommandContext): Command =>
  newTasksCommand({
    name: "list",
    description: "list the tasks of a folder",
    examples: ["tasks", "tasks list --in ../shop/tasks --json"],
  }).action(async ({ in: folder, ...options }: TasksOptions) => {
    const tasks = (await readTasks(folder)).map(({ task }) => task);
    const row = ({ name, family = "", repository, commit = "", solution, prompt }: Task): readonly string[] => {
      const asked = prompt.split("\n", 1)[0] ?? "";
      return [name, family, repository, commit.slice(0, 12), solution ? "recorded" : "", asked.slice(0, 60)];
    };
    const headings = ["TASK", "FAMILY", "REPOSITORY", "COMMIT", "SOLUTION", "PROMPT"];
    printerOf(context, options).result({ tasks }, () => table(headings, tasks.map(row), context.io.paint.out));
  });

interface AddOptions extends TasksOptions {
  readonly repo: string;
  readonly commit?: string;
  readonly prompt: string;
  readonly check: string;
  readonly file?: readonly string[];
  readonly solution?: string;
  readonly family?: string;
  readonly turns?: string;
  readonly seconds?: string;
}

/** A text file that an option names. */
async function textOf(file: string, flag: string): Promise<string> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${flag} ${file} cannot be read: ${error.code === "ENOENT" ? "there is no such file" : error.code}`);
  });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`${flag} ${file} is no text: a task holds files of text alone`);
  }
}

/** The commit that a task names: of a git repository always one, so that the task stays what it is. */
async function commitOf(repository: string, given: string | undefined): Promise<string | undefined> {
  if (isUrl(repository)) return given ?? (await git(".", ["ls-remote", "--", repository, "HEAD"])).split("\t", 1)[0];
  if (await isGit(repository)) {
    const named = given ?? "HEAD";
    const found = await git(repository, ["rev-parse", "--verify", "--quiet", `${named}^{commit}`]).catch(() => null);
    if (found === null) throw new UsageError(`--commit: there is no commit ${named} in ${repository}`);
    return found.trim();
  }
  if (given !== undefined) throw new UsageError(`--commit is for git repositories, and ${repository} is none`);
  return undefined;
}

const addCommand = (context: CommandContext): Command =>
  newTasksCommand({
    name: "add",
    description: "write a task: a state of a repository, what to ask, and the command that says whether it was done",
    examples: [
      'tasks add fix-parser --repo . --prompt "Make the parser read empty files" --check "python3 -m pytest tests/test_parser.py"',
      'tasks add gate --repo https://host/shop.git --commit 1f3a9c2 --prompt "Add a gate" --check "sh check.sh" --file check.sh',
    ],
  })
    .argument("<name>", "small letters, digits and dashes")
    .requiredOption("--repo <folder|url>", "the repository")
    .option("--commit <commit>", "the state that the agent finds (default: the newest)")
    .requiredOption("--prompt <text>", "what a person asks")
    .requiredOption("--check <command>", "run by sh in the result; exit code 0 means solved")
    .option("--file <path...>", "files of the repository that the check needs and an agent must not change, as they are now")
    .option("--solution <patch>", "a patch with which the check passes, as git diff writes it")
    .option("--family <name>", "the kind of work, by which results are grouped")
    .option("--turns <n>", `ends an agent after so many answers (default: ${TASK_LIMITS.turns})`)
    .option("--seconds <n>", `ends an agent after so many seconds (default: ${TASK_LIMITS.seconds})`)
    .action(async (name: string, { in: folder, ...options }: AddOptions) => {
      const { repo, file = [], prompt, check, family, solution, turns, seconds } = options;
      if (!matches(Task.properties.name, name))
        throw new UsageError(`<name> takes small letters, digits and dashes, not "${name}"`);
      const there = isUrl(repo) ? null : await realpath(repo).catch(() => null);
      if (there === null && !isUrl(repo)) throw new UsageError(`--repo ${repo}: there is no such folder`);
      const outside = file.find((one) => !isInside(one));
      if (outside !== undefined) throw new UsageError(`--file ${outside} is no path below the repository`);
      const texts = await Promise.all(
        file.map(async (one) => [one, await textOf(path.join(there ?? ".", one), "--file")] as const),
      );
      const commit = await commitOf(there ?? repo, options.commit);
      const limits = {
        turns: parseFlag("--turns", TaskLimits.properties.turns, turns ?? String(TASK_LIMITS.turns)) as number,
        seconds: parseFlag("--seconds", TaskLimits.properties.seconds, seconds ?? String(TASK_LIMITS.seconds)) as number,
      };
      const task: Task = {
        name,
        repository: there === null ? repo : path.relative(path.resolve(folder), there) || ".",
        ...(commit !== undefined && { commit }),
        prompt,
        check,
        ...(texts.length > 0 && { check_files: Object.fromEntries(texts) }),
        ...(family !== undefined && { family }),
        ...(solution !== undefined && { solution: await textOf(solution, "--solution") }),
        ...((turns ?? seconds) !== undefined && { limits }),
      };
      const written = await writeTask(folder, task);
      const next = `${context.io.name} tasks check ${name}${folder === "tasks" ? "" : ` --in ${folder}`}`;
      printerOf(context, options).result({ file: written, task }, () => `${written}\nWhether it holds: ${next}`);
    });

const showCommand = (context: CommandContext): Command =>
  newTasksCommand({ name: "show", description: "show a task", examples: ["tasks show fix-parser"] })
    .argument("<name>", "a task")
    .action(async (name: string, { in: folder, ...options }: TasksOptions) => {
      for (const { task } of await tasksCalled([name], folder))
        printerOf(context, options).result(task, () => stringify(task, { lineWidth: 0 }).trimEnd());
    });

const removeCommand = (context: CommandContext): Command =>
  newTasksCommand({ name: "rm", description: "remove a task's file", examples: ["tasks rm fix-parser"] })
    .argument("<name>", "a task")
    .action(async (name: string, { in: folder, ...options }: TasksOptions) => {
      const file = path.join(folder, `${name}.yaml`);
      const isName = matches(Task.properties.name, name);
      await (isName ? rm(file) : Promise.reject(new Error())).catch(() => {
        throw new UsageError(`there is no task ${name} in ${folder}: imprint tasks lists what is there`);
      });
      printerOf(context, options).result({ name }, () => `${name} is removed.`);
    });

interface Line {
  readonly name: string;
  readonly holds: boolean;
  /** What is wrong; null where nothing is. */
  readonly wrong: string | null;
  /** What the check said at last, where something is wrong. */
  readonly said: string;
  readonly text: string;
}

const lastLines = ({ before, after }: Verified): string => {
  const { stdout, stderr } = (after ?? before).end;
  return `${stdout}${stderr}`.trim().split("\n").slice(-5).join("\n");
};

function lineOf(name: string, verified: Verified): Line {
  const wrong = wrongWith(verified);
  if (wrong !== null) return { name, holds: false, wrong, said: lastLines(verified), text: `does not hold: ${wrong}` };
  const after = verified.after === null ? "no solution is recorded" : "passes with the solution";
  return { name, holds: true, wrong, said: "", text: `holds: fails before (exit code ${verified.before.end.code}), ${after}` };
}

const checkCommand = (context: CommandContext): Command =>
  newTasksCommand({
    name: "check",
    description: "make each task's state and run its check: it must fail before, and pass with the recorded solution",
    examples: ["tasks check", "tasks check fix-parser"],
  })
    .argument("[name...]", "tasks (default: all)")
    .option("--no-sandbox", "run the checks with all that you may do: for repositories that you trust")
    .action(
      async (names: string[], { in: folder, sandbox: isSafe, ...options }: TasksOptions & { readonly sandbox: boolean }) => {
        const { io, state } = context;
        const printer = printerOf(context, options);
        const tasks = await tasksCalled(names, folder);
        const sandbox = await findSandbox({ io, noSandbox: !isSafe });
        const interrupt = new AbortController();
        const release = io.onInterrupt(() => interrupt.abort());
        const lines: Line[] = [];
        for (const loaded of tasks) {
          const { name } = loaded.task;
          const verifying = verifyTask(loaded, sandbox, interrupt.signal).then(
            (verified) => lineOf(name, verified),
            (error: unknown): Line => {
              if (!(error instanceof CommandError || error instanceof UsageError)) throw error;
              return { name, holds: false, wrong: error.message, said: "", text: `does not hold: ${error.message}` };
            },
          );
          lines.push(await waitingFor(`checking ${name}`, verifying, printer.note));
          if (interrupt.signal.aborted) break;
        }
        release();
        if (interrupt.signal.aborted || lines.some(({ holds }) => !holds)) state.exitCode = 1;
        printer.result({ sandbox: sandbox.name, tasks: lines.map(({ text: _, ...line }) => line) }, () =>
          lines
            .map(({ name, text, said }) => [`${name} ${text}`, ...(said ? said.split("\n") : [])].map(plain).join("\n  "))
            .join("\n"),
        );
      },
    );
