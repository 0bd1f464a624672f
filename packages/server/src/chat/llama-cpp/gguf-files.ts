import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { ImprintError, type Log } from "../../common/error.js";
import { createKeyedLock } from "../../common/keyed-lock.js";
import { workerEnvironment } from "../../runners/local/environment.js";
import type { WorkerCommand } from "../../runners/local/local-runner.js";
import type { DataPaths } from "../../storage/paths.js";
import type { Preparing } from "../preparing.js";
import { createWeightsHash } from "../weights-hash.js";

/** GGUF files of bases and adapters, each made once. */
export interface GgufFiles {
  /** The weights that the trainer computes with. Rejects with EXPORT_UNSUPPORTED for what llama.cpp cannot take, or could not be written. */
  base(folder: string, quantization: "nf4" | "none"): Promise<string>;
  /** Rejects as `base` does. */
  adapter(folder: string, base: string): Promise<string>;
  /** Ends what is being written. */
  close(): void;
}

/** To be raised when the trainer writes them differently, in its `publish/gguf.py` too. */
const LAYOUT = 1;

/** Changes with every file that a model is made of. */
const fingerprint = async (folder: string): Promise<string> => {
  const all: readonly string[] = await readdir(folder).catch(() => []); // a hub id is no folder
  const names = all.filter((name) => /\.(json|safetensors)$/.test(name)).toSorted();
  const files = await Promise.all(
    names.map(async (name) => {
      const { size, ino, mtimeMs } = await stat(join(folder, name));
      return [name, size, ino, mtimeMs];
    }),
  );
  return createHash("sha256")
    .update(JSON.stringify([LAYOUT, folder, files]))
    .digest("hex")
    .slice(0, 16);
};

/** Where a base's file lies, whether it was made or not: beside its weights where a pull or the set-up wrote it. */
export const baseGguf = async (
  { gguf }: Pick<DataPaths, "gguf">,
  model: string,
  quantization: "nf4" | "none",
): Promise<string> => {
  const beside = join(model, `llama-cpp-${LAYOUT}-${quantization}.gguf`);
  return existsSync(beside) ? beside : join(gguf, `base-${await fingerprint(model)}-${quantization}.gguf`);
};

export const createGgufFiles = ({
  paths,
  trainer,
  preparing,
  log,
}: {
  readonly paths: Pick<DataPaths, "gguf" | "exports">;
  /** How its worker is run; "serve" and what follows are replaced. */
  readonly trainer: WorkerCommand;
  readonly preparing: Preparing;
  readonly log: Log;
}): GgufFiles => {
  const closing = new AbortController();
  const hashOf = createWeightsHash();
  const locked = createKeyedLock();
  const refused = new Map<string, ImprintError>();

  const write = async (what: "base model" | "adapter", out: string, args: readonly string[]): Promise<void> => {
    const env = workerEnvironment({ source: process.env, allowDownloads: false, extra: trainer.env });
    const command = [...trainer.args.slice(0, trainer.args.indexOf("serve")), "gguf", ...args, "--out", out];
    log.warn({ file: basename(out) }, `the ${what} is written for llama.cpp, once; chats wait for it`);
    const { signal } = closing;
    const running = promisify(execFile)(trainer.file, command, { env, signal });
    let said = "";
    running.child.stderr?.on("data", (text: string) => {
      said = text.trim().split("\n").at(-1) ?? said;
    });
    await preparing
      .during(() => `the ${what} is written for llama.cpp, once${said && `: ${said}`}`, running)
      .catch((error: { message: string }) => {
        if (signal.aborted) throw new ImprintError("SHUTTING_DOWN", "The service is shutting down.");
        // Not tried again before the next start: it may have taken minutes.
        const refusal = new ImprintError("EXPORT_UNSUPPORTED", said === "" ? error.message : said);
        refused.set(out, refusal);
        throw refusal;
      });
  };

  const made = (what: "base model" | "adapter", out: string, args: readonly string[]): Promise<string> =>
    locked([out], async () => {
      const refusal = refused.get(out);
      if (refusal) throw refusal;
      if (!existsSync(out)) await write(what, out, args);
      return out;
    });

  return {
    base: async (model, quantization) =>
      made("base model", await baseGguf(paths, model, quantization), ["--base", model, "--quantization", quantization]),
    adapter: async (adapter, base) => {
      const file = `${LAYOUT}-${(await hashOf(adapter)).slice(0, 16)}.gguf`;
      // Among its exports, which are erased with it.
      return made("adapter", join(paths.exports, basename(adapter), "engine", file), ["--base", base, "--adapter", adapter]);
    },
    close: () => closing.abort(),
  };
};
