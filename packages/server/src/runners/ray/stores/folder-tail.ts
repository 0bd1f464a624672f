import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { Tail } from "./tail.js";

const CHUNK_BYTES = 1024 * 1024;

/** Opened anew each time: NFS shows what others wrote to whoever opens a file. */
export const createFolderTail = (path: string, onData: (chunk: Buffer) => void): Tail => {
  const hash = createHash("sha256");
  let offset = 0;
  let begun = false;
  return {
    async read(upTo = Number.MAX_SAFE_INTEGER) {
      const from = offset;
      let file: Awaited<ReturnType<typeof open>>;
      try {
        file = await open(path, "r");
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
        throw error;
      }
      begun = true;
      try {
        while (offset < upTo) {
          const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, upTo - offset));
          const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
          if (bytesRead === 0) break;
          const chunk = buffer.subarray(0, bytesRead);
          offset += bytesRead;
          hash.update(chunk);
          onData(chunk);
        }
      } finally {
        await file.close();
      }
      return offset > from;
    },
    bytes: () => offset,
    sha256: () => hash.copy().digest("hex"),
    begun: () => begun,
  };
};
