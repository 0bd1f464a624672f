import { readFile, rm } from "node:fs/promises";
import { writeAtomically } from "./durable.js";
import type { DataPaths } from "./paths.js";

/**
 * Leaves the address of the service for commands to find. The answer takes it away again, unless another service that shares the data
 * directory has left its own since.
 */
export const announceAddress = async ({ serverFile }: DataPaths, url: string): Promise<() => Promise<void>> => {
  const announced = `${JSON.stringify({ url, pid: process.pid })}\n`;
  await writeAtomically(serverFile, announced);
  return async () => {
    const present = await readFile(serverFile, "utf8").catch(() => null);
    if (present === announced) await rm(serverFile, { force: true });
  };
};
