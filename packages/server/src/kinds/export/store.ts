import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Export, type ExportFormat, type ExportResult } from "@imprint/contracts";
import { nullIfMissing } from "../../common/error.js";
import type { AdapterRow } from "../../registry/adapters.js";
import { sameFiles, syncFolder } from "../../registry/publish.js";
import { EXPORT_FILE_NAME, hashFolder } from "../../registry/validate/folder.js";
import { hashFile } from "../../registry/validate/hash.js";
import { InvalidAdapterError } from "../../registry/validate/invalid.js";
import { readRecord, syncPath, writeAtomically } from "../../storage/durable.js";
import type { DataPaths } from "../../storage/paths.js";

/** Stands in the export's folder and is none of its files. */
const RECORD = "export.json";

const REQUIRED = { gguf: (id: string) => `${id}.gguf`, merged: () => "config.json" } as const;

const isWhole = async (folder: string, { files }: Export): Promise<boolean> => {
  const hash = (name: string) =>
    hashFile(join(folder, name)).catch((error) => (error instanceof InvalidAdapterError ? null : nullIfMissing(error)));
  const hashed = await Promise.all(files.map(({ name }) => hash(name)));
  return hashed.every((found, at) => found?.sha256 === files[at]?.sha256);
};

/** The export of an adapter's present files; null when there is none that is whole. */
export const findExport = async (paths: DataPaths, adapter: AdapterRow, format: ExportFormat): Promise<Export | null> => {
  const folder = join(paths.exports, adapter.adapter_id, format);
  const record = await readRecord(Export, join(folder, RECORD));
  return record && record.adapter_sha256 === adapter.sha256 && (await isWhole(folder, record)) ? record : null;
};

/**
 * Takes the files that a trainer left in `folder` into `exports/`: hashed, on the disk, then renamed. What stood there before
 * is replaced.
 * @throws InvalidAdapterError when the files are not what the trainer claims
 */
export const publishExport = async ({
  paths,
  adapter,
  format,
  folder,
  result,
  at,
}: {
  readonly paths: DataPaths;
  readonly adapter: AdapterRow;
  readonly format: ExportFormat;
  readonly folder: string;
  readonly result: ExportResult;
  readonly at: string;
}): Promise<void> => {
  const { adapter_id, base_model, sha256 } = adapter;
  const files = await hashFolder(folder, { allowed: EXPORT_FILE_NAME });
  if (!sameFiles(files, result.files)) throw new InvalidAdapterError("the files differ from those that the trainer reported");
  const required = REQUIRED[format](adapter_id);
  if (!files.some(({ name }) => name === required)) throw new InvalidAdapterError(`${required} is missing`);
  const home = join(paths.exports, adapter_id, format);
  const record: Export = {
    adapter_id,
    format,
    base_model,
    adapter_sha256: sha256,
    files: [...files],
    created_at: at,
    path: `exports/${adapter_id}/${format}`,
  };
  await writeAtomically(join(folder, RECORD), `${JSON.stringify(record, null, 2)}\n`);
  await syncFolder(folder, files);
  await mkdir(dirname(home), { recursive: true, mode: 0o700 });
  await rm(home, { recursive: true, force: true });
  await rename(folder, home);
  await syncPath(dirname(home), { folder: true });
};
