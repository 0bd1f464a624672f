import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

/** A GGUF file that another program keeps. It stays where it is: a base model is made of what is read from it. */
export interface FoundGguf {
  /** As `imprint models add` takes it: `ollama:qwen2.5-coder:0.5b`, `lmstudio:publisher/model/file.gguf`. */
  readonly name: string;
  readonly file: string;
  readonly size: number;
}

/** Families that the trainer reads: `bases/gguf_weights.py`. Mistral's files call themselves llama. */
export const FAMILIES: readonly string[] = ["llama", "qwen2", "qwen3", "gemma3", "granite"];

const MODEL = "application/vnd.ollama.image.model";
const ADAPTER = "application/vnd.ollama.image.adapter";
const DIGEST = /^sha256[:-]([0-9a-f]{64})$/;
const PART = /-\d{5}-of-\d{5}\.gguf$/i;

export const isGguf = (file: string): boolean => /\.gguf$/i.test(file);

interface Manifest {
  readonly layers?: readonly { readonly mediaType: string; readonly digest: string }[];
}

const filesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return []; // not there, or somebody else's
  }
};

const sizeOf = (file: string): number | null => statSync(file, { throwIfNoEntry: false })?.size ?? null;

/** Ollama's models (`manifests/HOST/NAMESPACE/MODEL/TAG` names a blob): not those that are a base and an adapter, or no GGUF file. */
function inOllama(root: string): readonly FoundGguf[] {
  return ["manifests", "manifests-v2"].flatMap((manifests) =>
    filesIn(path.join(root, manifests)).flatMap((place) => {
      const [host, namespace, model, tag, ...more] = place.split(path.sep);
      if (tag === undefined || more.length > 0) return [];
      try {
        const { layers = [] }: Manifest = JSON.parse(readFileSync(path.join(root, manifests, place), "utf8"));
        const [weights, ...others] = layers.filter(({ mediaType }) => mediaType === MODEL || mediaType === ADAPTER);
        const digest = weights?.mediaType === MODEL && others.length === 0 ? DIGEST.exec(weights.digest)?.[1] : undefined;
        const file = path.join(root, "blobs", `sha256-${digest}`);
        const size = sizeOf(file);
        const where = host !== "registry.ollama.ai" ? `${host}/${namespace}/` : namespace === "library" ? "" : `${namespace}/`;
        return digest === undefined || size === null ? [] : [{ name: `ollama:${where}${model}:${tag}`, file, size }];
      } catch {
        return []; // a folder, or no manifest
      }
    }),
  );
}

/** LM Studio's files, `PUBLISHER/MODEL/FILE.gguf`: not the eyes of a model, and no model in parts. */
const inLmStudio = (root: string): readonly FoundGguf[] =>
  filesIn(root)
    .filter((place) => isGguf(place) && !PART.test(place) && !path.basename(place).startsWith("mmproj"))
    .flatMap((place) => {
      const file = path.join(root, place);
      const size = sizeOf(file);
      return size === null ? [] : [{ name: `lmstudio:${place.split(path.sep).join("/")}`, file, size }];
    });

/** What Ollama and LM Studio keep on this machine; each name once. */
export function foundGgufs(env: NodeJS.ProcessEnv, home = homedir()): readonly FoundGguf[] {
  const own = [path.join(home, ".ollama", "models"), "/usr/share/ollama/.ollama/models"]; // the second: Ollama's service on Linux
  const found = [
    ...(env.OLLAMA_MODELS ? [env.OLLAMA_MODELS] : own).flatMap(inOllama),
    ...[path.join(home, ".lmstudio", "models"), path.join(home, ".cache", "lm-studio", "models")].flatMap(inLmStudio),
  ];
  return [...new Map(found.map((one) => [one.name, one])).values()];
}

/** The one of that name; Ollama's tag `latest` may be left out. */
export const foundGguf = (name: string, found: readonly FoundGguf[]): FoundGguf | undefined =>
  found.find((one) => one.name === name || one.name === `${name}:latest`);

/** What to call the base model that is made of it. */
export const calledAs = ({ name }: FoundGguf): string =>
  path.posix
    .basename(name.replace(/^\w+:/, ""))
    .replace(/\.gguf$|:latest$/i, "")
    .replaceAll(":", "-");

const BYTES_READ = 1 << 16;
const STRING = 8;
const ARRAY = 9;
const WIDTHS = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8]; // of a value, by its type

/** `general.architecture` of a GGUF file, which stands near its beginning; null where it does not. */
export function familyOf(file: string): string | null {
  const head = Buffer.alloc(BYTES_READ);
  try {
    const descriptor = openSync(file, "r");
    readSync(descriptor, head);
    closeSync(descriptor);
    return architectureIn(head);
  } catch {
    return null; // unreadable, or it ends too early
  }
}

function architectureIn(head: Buffer): string | null {
  let at = 0;
  const skip = (width: number): number => {
    at += width;
    return at - width;
  };
  const long = (): number => Number(head.readBigUInt64LE(skip(8)));
  const type = (): number => head.readUInt32LE(skip(4));
  const text = (): string => {
    const length = long();
    return head.toString("utf8", skip(length), at);
  };
  const pass = (kind: number): void => {
    if (kind === STRING) text();
    else if (kind === ARRAY) {
      const inner = type();
      for (let left = long(); left > 0 && at < head.length; left--) pass(inner);
    } else skip(WIDTHS[kind] ?? BYTES_READ);
  };
  if (head.toString("latin1", skip(8), 4) !== "GGUF") return null;
  long(); // tensors
  for (let left = long(); left > 0; left--) {
    const key = text();
    const kind = type();
    if (key === "general.architecture") return text();
    pass(kind);
  }
  return null;
}
