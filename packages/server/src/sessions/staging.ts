import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";

/** Lends a folder of its own below `incoming`, which is removed with all that is left in it. A crash leaves it to the sweep. */
export const withStaging = async <T>(incoming: string, use: (staging: string) => Promise<T>): Promise<T> => {
  const staging = await mkdtemp(join(incoming, "import-"));
  try {
    return await use(staging);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
};
