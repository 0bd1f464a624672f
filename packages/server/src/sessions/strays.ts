import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { refusalOf } from "./session-file.js";

/** What lies among the sessions and is not read, each with why: links, folders, pipes, devices, and files beyond `limit` bytes. */
export const straySessions = async (
  folder: string,
  limit: number,
): Promise<readonly { readonly name: string; readonly why: string }[]> => {
  const names = await readdir(folder).catch(() => []);
  const found: { readonly name: string; readonly why: string }[] = [];
  for (const name of names.filter((one) => one.endsWith(".json"))) {
    const stats = await lstat(join(folder, name)).catch(() => null);
    const why = stats && refusalOf(stats, limit);
    if (why !== null) found.push({ name, why });
  }
  return found;
};
