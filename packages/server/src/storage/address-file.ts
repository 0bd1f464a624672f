import { rm } from "node:fs/promises";
import { writeAtomically } from "./durable.js";
import type { DataPaths } from "./paths.js";

/** Leaves the address of the service for commands to find. The answer takes it away again. */
export const announceAddress = async ({ serverFile }: DataPaths, url: string): Promise<() => Promise<void>> => {
  await writeAtomically(serverFile, `${JSON.stringify({ url, pid: process.pid })}\n`);
  return () => rm(serverFile, { force: true });
};
