import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Task } from "@imprint/contracts";
import { fieldErrors, matches } from "@imprint/contracts/fields";
import { parse, stringify } from "yaml";
import { UsageError } from "../errors.js";

export interface LoadedTask {
  readonly task: Task;
  readonly file: string;
}

/** The tasks of a folder, in the order of their files' names. Throws a UsageError for a file that is none. */
export async function readTasks(folder: string): Promise<readonly LoadedTask[]> {
  const names = await readdir(folder).catch(() => {
    throw new UsageError(`there is no folder ${folder}: name the one that holds the tasks`);
  });
  const files = names.filter((name) => /\.ya?ml$/.test(name)).sort();
  if (files.length === 0) throw new UsageError(`${folder} holds no tasks: a task is a file NAME.yaml`);
  return Promise.all(
    files.map(async (name) => {
      const file = path.join(folder, name);
      const task: unknown = parse(await readFile(file, "utf8"));
      if (matches(Task, task)) return { task, file };
      const [fault] = fieldErrors(Task, task);
      throw new UsageError(`${file}: ${fault?.path.slice(1) || "the task"} ${fault?.message ?? "is no task"}`);
    }),
  );
}

export const writeTask = (folder: string, task: Task): Promise<void> =>
  writeFile(path.join(folder, `${task.name}.yaml`), stringify(task));
