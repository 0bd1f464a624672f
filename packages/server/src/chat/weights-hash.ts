import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

const WEIGHTS = "adapter_model.safetensors";

/** The SHA-256 of an adapter's weights, read once: what is written beside them, as an evaluation, makes it no other adapter. */
export const createWeightsHash = (): ((adapter: string) => Promise<string>) => {
  const hashes = new Map<string, Promise<string>>();

  const read = async (file: string): Promise<string> => {
    const hash = createHash("sha256");
    await pipeline(createReadStream(file), hash);
    return hash.digest("hex");
  };

  return async (adapter) => {
    const file = join(adapter, WEIGHTS);
    const { ino, size, mtimeMs } = await stat(file);
    const key = JSON.stringify([file, ino, size, mtimeMs]);
    const hash = hashes.get(key) ?? read(file);
    hashes.set(key, hash);
    hash.catch(() => hashes.delete(key));
    return hash;
  };
};
