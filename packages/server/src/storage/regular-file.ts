import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Neither a link, which may lead anywhere, nor a pipe, which would be waited for. Windows has neither flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens what a path itself names, without following or waiting. The handle is the caller's to close. */
export const openUnfollowed = async (path: string): Promise<{ readonly handle: FileHandle; readonly stats: Stats }> => {
  const handle = await open(path, FLAGS);
  try {
    return { handle, stats: await handle.stat() };
  } catch (error) {
    await handle.close();
    throw error;
  }
};
