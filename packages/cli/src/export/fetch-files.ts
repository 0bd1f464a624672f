import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import type { Imprint } from "@imprint/client";
import type { AdapterFile, ExportFormat } from "@imprint/contracts";
import { CommandError } from "../errors.js";
import { makeTarget, notWritten } from "./target.js";

/** Copies files of an adapter, or of its export, into a folder: each is hashed on the way and appears whole or not at all. */
export async function fetchFiles({
  client,
  adapterId,
  format,
  files,
  folder,
  nameOf = (name) => name,
}: {
  readonly client: Imprint;
  readonly adapterId: string;
  /** Of an export; the adapter's own files when left out. */
  readonly format?: ExportFormat | undefined;
  readonly files: readonly AdapterFile[];
  readonly folder: string;
  readonly nameOf?: (name: string) => string;
}): Promise<void> {
  makeTarget(folder);
  for (const { name, sha256 } of files) {
    const target = path.join(folder, nameOf(name));
    const draft = path.join(folder, `.${path.basename(target)}.${process.pid}.part`);
    try {
      const { body } = await (format === undefined
        ? client.adapters.file(adapterId, name)
        : client.adapters.exportFile(adapterId, format, name));
      const hash = createHash("sha256");
      const hashing = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          hash.update(chunk);
          done(null, chunk);
        },
      });
      await pipeline(Readable.fromWeb(body as ReadableStream<Uint8Array>), hashing, createWriteStream(draft, { flags: "wx" }));
      if (hash.digest("hex") !== sha256)
        throw new CommandError(
          `${name} is not what was recorded of it: imprint adapter ${adapterId} --verify says what is wrong.`,
        );
      await rename(draft, target);
    } catch (error) {
      await rm(draft, { force: true });
      throw notWritten(target, error);
    }
  }
}
