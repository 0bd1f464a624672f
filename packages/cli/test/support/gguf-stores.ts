import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

const long = (value: number): Buffer => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
};

const int = (value: number): Buffer => {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
};

const text = (value: string): Buffer => Buffer.concat([long(Buffer.byteLength(value)), Buffer.from(value)]);

/** The beginning of a GGUF file. `sorted`: as Ollama writes it, with fields of the family before the one that names it. */
export function gguf(family: string, { sorted = false } = {}): Buffer {
  const array = [int(9), int(8), long(2), text("one"), text("two")];
  const before = [
    [text(`${family}.block_count`), int(4), int(2)],
    [text(`${family}.layers`), ...array],
    [text(`${family}.rope.freq_base`), int(6), int(0)],
  ];
  const own = [[text("general.architecture"), int(8), text(family)]];
  const fields = sorted ? [...before, ...own] : [...own, ...before];
  return Buffer.concat([Buffer.from("GGUF"), int(3), long(0), long(fields.length), ...fields.flat()]);
}

/** A model in Ollama's store; null: its blob is gone. */
export function ollamaModel(root: string, manifest: string, content: Buffer | null, { adapter = false } = {}): void {
  const digest = createHash("sha256")
    .update(content ?? "gone")
    .digest("hex");
  const layer = (kind: string) => ({ mediaType: `application/vnd.ollama.image.${kind}`, digest: `sha256:${digest}`, size: 1 });
  const layers = [layer("template"), layer("model"), ...(adapter ? [layer("adapter")] : [])];
  for (const folder of [path.dirname(path.join(root, manifest)), path.join(root, "blobs")])
    mkdirSync(folder, { recursive: true });
  if (content !== null) writeFileSync(path.join(root, "blobs", `sha256-${digest}`), content);
  writeFileSync(path.join(root, manifest), JSON.stringify({ schemaVersion: 2, layers }));
}
