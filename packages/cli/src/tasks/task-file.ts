import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Task } from "@imprint/contracts";
import { fieldErrors } from "@imprint/contracts/fields";
import { parse, stringify } from "yaml";
import { UsageError } from "../errors.js";

/** A task and the file that it was read from: its repository's folder is relative to that. */
export interface LoadedTask {
  readonly task: Task;
  readonly file: string;
}

/** Whether a path, joined to a folder, names something below it. */
export const isInside = (given: string): boolean =>
  !given.includes("\0") &&
  !path.isAbsolute(given) &&
  given.split("/").every((part) => part !== "" && part !== "." && part !== "..");

/** What YAML holds, as a task. Throws a UsageError that names the file and every wrong field. */
function taskOf(value: unknown, file: string): Task {
  const errors = fieldErrors(Task, value).map(({ path: at, message }) => `${at.slice(1) || "the file"} ${message}`);
  if (errors.length > 0) throw new UsageError(`${file}: ${errors.join("; ")}`);
  const task = value as Task;
  const outside = Object.keys(task.check_files ?? {}).find((name) => !isInside(name));
  if (outside !== undefined)
    throw new UsageError(`${file}: check_files names "${outside}", which leaves the result: write a path below it, without ..`);
  return task;
}

async function readTask(file: string): Promise<LoadedTask> {
  const text = await readFile(file, "utf8");
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message.split("\n", 1)[0] : error}`);
  }
  const task = taskOf(value, file);
  if (task.name !== path.basename(file, ".yaml"))
    throw new UsageError(`${file}: name is ${task.name}: call the file ${task.name}.yaml, or the task as the file`);
  return { task, file };
}

/** The tasks of a folder, by name. Throws a UsageError for a file that holds none, and where there is no such folder. */
export async function readTasks(folder: string): Promise<readonly LoadedTask[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new UsageError(`there is no folder ${folder}: imprint tasks add NAME makes one, and --in DIR names another`);
  });
  const files = names.filter((name) => name.endsWith(".yaml")).sort();
  return Promise.all(files.map((name) => readTask(path.join(path.resolve(folder), name))));
}

/** A task as YAML: texts of several lines as blocks, to be read and edited, unless a block would lose one (a text of blank lines alone). */
function yamlOf(task: Task): string {
  const blocks = stringify(task, { lineWidth: 0, blockQuote: "literal" });
  return isDeepStrictEqual(parse(blocks), task) ? blocks : stringify(task, { lineWidth: 0, defaultStringType: "QUOTE_DOUBLE" });
}

/** Writes a new task into a folder, which is made where it is not there, and answers with its file. Throws a UsageError for one that is there. */
export async function writeTask(folder: string, task: Task): Promise<string> {
  const file = path.join(path.resolve(folder), `${task.name}.yaml`);
  taskOf(task, file);
  await mkdir(folder, { recursive: true });
  await writeFile(file, yamlOf(task), { flag: "wx" }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new UsageError(`${file} is there: give the task another name, or remove it with imprint tasks rm ${task.name}`);
  });
  return file;
}
