import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { TaskResult } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import type { EndRecord } from "./end-record.js";
import type { Store } from "./stores/store.js";

const refused = (name: string, what: string): ImprintError =>
  new ImprintError("ADAPTER_INVALID", `${name} ${what}: it was changed after the trainer had written it.`);

/** Copies one file, hashed on the way. */
const take = async (from: Readable, to: string): Promise<{ readonly size: number; readonly sha256: string }> => {
  const hash = createHash("sha256");
  let size = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(from, measure, createWriteStream(to, { mode: 0o600 }));
  return { size, sha256: hash.digest("hex") };
};

/**
 * Brings the files of a result here, each as the trainer hashed it, and as the supervisor hashed it again when the worker was gone.
 * @throws ImprintError ADAPTER_INVALID
 */
export const collectFiles = async ({
  store,
  from,
  to,
  result,
  record,
}: {
  readonly store: Store;
  /** The name of a folder there. */
  readonly from: string;
  readonly to: string;
  readonly result: TaskResult;
  readonly record: EndRecord;
}): Promise<void> => {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const { name, size, sha256 } of result.files) {
    const listed = record.files.find((file) => file.name === name);
    if (!listed) throw refused(name, "is not there");
    const content = await store.open(`${from}/${name}`);
    if (content === null) throw refused(name, "is no regular file");
    const taken = await take(content, join(to, name));
    if ([listed, taken].some((one) => one.size !== size || one.sha256 !== sha256)) {
      await rm(join(to, name), { force: true });
      throw refused(name, "is not what the trainer hashed");
    }
  }
};
