import { join } from "node:path";
import { ImprintError } from "../../common/error.js";
import type { Kind } from "../../jobs/kind.js";
import { knownFolder, linkModel } from "../../models/base-model.js";
import type { KindDeps } from "../deps.js";

type PullJobRequest = { readonly base_model: string };

export interface PullTask {
  readonly job_id: string;
  readonly name: string;
  readonly out: string;
}

export interface Pulled {
  /** Of the data directory, or of the hub's cache. */
  readonly folder: string;
  readonly warnings: readonly string[];
}

/** The pull of a base model: of the catalogue by its name, of the hub by its id. What a cut or a cancel leaves, the next one goes on with. */
export const createPull = ({ models, run }: Pick<KindDeps, "models" | "run">): Kind<PullJobRequest, PullTask, Pulled> => ({
  reserves: () => null,
  isBeside: true,
  makes: ({ base_model }) => base_model,
  // The hub may have a newer version of its own.
  existing: async ({ request: { base_model } }) => {
    const folder = base_model.includes("/") ? null : knownFolder(base_model, models);
    return folder === null ? null : { folder, warnings: [] };
  },
  prepare: async ({ job_id, request: { base_model: name } }) => ({ job_id, name, out: join(models.folder, name) }),
  run: async ({ job_id, name, out }, { signal, onEvent }) => {
    const pip = models.setup?.pip;
    onEvent({ type: "phase", job_id, phase: "fetching" });
    let counted: { readonly done: number; readonly total: number } | null = null;
    const onLine = ({ doing, done, total }: Readonly<Record<string, unknown>>): void => {
      if (typeof doing !== "string") return;
      if (typeof done === "number" && typeof total === "number" && total > 0) counted = { done, total };
      else onEvent({ type: "log", job_id, text: `${doing}\n` });
      // What is done with what was fetched takes as long, and has no count of its own.
      if (counted !== null) onEvent({ type: "measuring", job_id, measuring: { ...counted, what: doing } });
    };
    const args = ["models", "pull", name, "--out", out, "--report", ...(pip === undefined ? [] : ["--pip", pip])];
    const { folder } = await run(args, { signal, onLine, online: true });
    return { folder: String(folder), warnings: [] };
  },
  // The hub's models stay in the hub's cache, under their own ids; one of the catalogue goes by its name besides.
  finish: async ({ task: { name, out }, result: { folder }, signal }) => {
    signal.throwIfAborted();
    if (name.includes("/") || folder === out || linkModel(folder, models.folder, name)) return;
    throw new ImprintError("BASE_MODEL_INVALID", `Another base model is called ${name} here.`);
  },
  discard: async () => {},
  shows: ({ base_model }) => ({ adapter_id: null, proof: null, result: { base_model } }),
});
