import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";

const isProgram = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};

/** The folders of a PATH, in their order. */
export const foldersOf = ({ PATH = "" }: NodeJS.ProcessEnv): readonly string[] => PATH.split(path.delimiter);

/** Where a program is: in the first of these folders that has it. */
export const programIn = (folders: readonly string[], program: string): string | undefined =>
  folders.map((folder) => path.resolve(folder, program)).find(isProgram);
