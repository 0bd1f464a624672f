import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JobResult } from "@imprint/contracts";
import { goodProof, writeAdapter } from "../../fixtures/workers/support/adapter.mjs";

export const RANK = 4;

/** A tiny, whole adapter in `folder`, and what a trainer would report of it. */
export const makeAdapterFolder = async (folder: string, adapterId = "a1"): Promise<JobResult> => {
  mkdirSync(folder, { recursive: true });
  const spec = { output_dir: folder, base_model_name: "test-model", adapter_id: adapterId, seed: 1 };
  return writeAdapter(spec, { rank: RANK, alpha: 8, proof: goodProof, training: {} });
};

/** Rewrites a file, and reports it as it then is: a trainer that made this file on purpose. */
export const rewrite = (
  folder: string,
  result: JobResult,
  name: string,
  change: (content: Buffer) => Uint8Array | string,
): JobResult => {
  const path = join(folder, name);
  writeFileSync(path, change(readFileSync(path)));
  const bytes = readFileSync(path);
  const file = { name, size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
  return { ...result, files: result.files.map((one) => (one.name === name ? file : one)) };
};

export type Header = Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }>;

/** Changes a safetensors file's header and leaves its data. */
export const withHeader =
  (change: (header: Header) => unknown) =>
  (content: Buffer): Buffer => {
    const length = Number(content.readBigUInt64LE());
    const header = JSON.parse(content.subarray(8, 8 + length).toString()) as Header;
    const bytes = Buffer.from(JSON.stringify(change(header) ?? header));
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(bytes.length));
    return Buffer.concat([size, bytes, content.subarray(8 + length)]);
  };
