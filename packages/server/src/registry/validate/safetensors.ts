import { type FileHandle, open } from "node:fs/promises";
import { Strict } from "@imprint/contracts";
import { type Static, Type } from "typebox";
import { check, InvalidAdapterError } from "./invalid.js";

const LENGTH_BYTES = 8;
const MAX_HEADER_BYTES = 8 * 1024 * 1024;
const MAX_TENSORS = 20_000;
const DTYPE_BYTES: Readonly<Record<string, number>> = { F32: 4, F16: 2, BF16: 2 };

const TensorEntry = Strict({
  dtype: Type.Union([Type.Literal("F32"), Type.Literal("F16"), Type.Literal("BF16")]),
  shape: Type.Array(Type.Integer({ minimum: 1, maximum: 2 ** 31 }), { maxItems: 4 }),
  data_offsets: Type.Tuple([Type.Integer({ minimum: 0 }), Type.Integer({ minimum: 0 })]),
});
const Metadata = Type.Record(Type.String(), Type.String());

/** A tensor as a safetensors header describes it. */
export type Tensor = { readonly name: string } & Static<typeof TensorEntry>;

const readExactly = async (file: FileHandle, length: number, position: number): Promise<Buffer> => {
  const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(length), position });
  if (bytesRead !== length) throw new InvalidAdapterError("the safetensors file is truncated");
  return buffer;
};

const parseHeader = (bytes: Buffer): readonly Tensor[] => {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new InvalidAdapterError("the safetensors header is not JSON");
  }
  if (typeof header !== "object" || header === null || Array.isArray(header))
    throw new InvalidAdapterError("the safetensors header is no object");
  const { __metadata__: metadata, ...entries } = header as Record<string, unknown>;
  if (metadata !== undefined) check(Metadata, metadata, "__metadata__ of the safetensors header");
  const tensors = Object.entries(entries);
  if (tensors.length > MAX_TENSORS) throw new InvalidAdapterError(`the safetensors file holds ${tensors.length} tensors`);
  return tensors.map(([name, entry]) => ({ name, ...check(TensorEntry, entry, `tensor ${name}`) }));
};

/** Offsets must tile the data exactly: no gap, no overlap, nothing behind the end. */
const checkSpans = (tensors: readonly Tensor[], dataLength: number): void => {
  let end = 0;
  const ordered = [...tensors].sort((a, b) => a.data_offsets[0] - b.data_offsets[0] || a.data_offsets[1] - b.data_offsets[1]);
  for (const { name, dtype, shape, data_offsets } of ordered) {
    const [from, to] = data_offsets;
    if (from !== end) throw new InvalidAdapterError(`tensor ${name} starts at ${from}, expected ${end}`);
    const span = shape.reduce((product, size) => product * size, DTYPE_BYTES[dtype] ?? Number.NaN);
    if (to - from !== span) throw new InvalidAdapterError(`tensor ${name} spans ${to - from} bytes, its shape needs ${span}`);
    end = to;
  }
  if (end !== dataLength) throw new InvalidAdapterError(`the tensors span ${end} bytes, the file holds ${dataLength}`);
};

/**
 * Reads and checks the header of a safetensors file; no declared size is trusted before it is compared with the file's length.
 * @throws InvalidAdapterError
 */
export const readSafetensorsHeader = async (path: string): Promise<readonly Tensor[]> => {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    if (size < LENGTH_BYTES) throw new InvalidAdapterError("the safetensors file is truncated");
    const headerLength = (await readExactly(file, LENGTH_BYTES, 0)).readBigUInt64LE();
    if (headerLength > BigInt(Math.min(MAX_HEADER_BYTES, size - LENGTH_BYTES)))
      throw new InvalidAdapterError(`the safetensors header claims ${headerLength} bytes of a file of ${size}`);
    const tensors = parseHeader(await readExactly(file, Number(headerLength), LENGTH_BYTES));
    checkSpans(tensors, size - LENGTH_BYTES - Number(headerLength));
    return tensors;
  } finally {
    await file.close();
  }
};
