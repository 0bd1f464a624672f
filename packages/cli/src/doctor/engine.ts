import { readFileSync } from "node:fs";
import path from "node:path";
import { ERRORS, servedText } from "@imprint/contracts";
import { type Config, chooseEngine, LLAMA_CPP_TYPES, lookAtUpstream, type UpstreamLook } from "@imprint/server/configuration";
import { discover } from "../service/discover.js";
import { type Finding, ok, warning } from "./check.js";

/** A base model of this machine, as config.json calls its kind. */
interface Base {
  readonly name: string;
  readonly type: string | null;
}

const typeOf = (folder: () => string): string | null => {
  try {
    const { model_type }: { readonly model_type?: unknown } = JSON.parse(
      readFileSync(path.join(folder(), "config.json"), "utf8"),
    );
    return typeof model_type === "string" ? model_type : null;
  } catch {
    return null;
  }
};

async function basesOf(config: Config): Promise<readonly Base[]> {
  const { baseModelsOf, locateBaseModel, preparedModels } = await import("@imprint/server/stored");
  const models = baseModelsOf(config);
  return preparedModels(models).map((name) => ({ name, type: typeOf(() => locateBaseModel(name, models).location) }));
}

/** Who answers for a base model, and why; null where it is the trainer as for all. */
function answersFor({ name, type }: Base, config: Config, look: UpstreamLook | null): string | null {
  const copy = look?.copies[name];
  if (copy !== undefined) return `${name}: the upstream, as ${copy}`;
  const { engine } = chooseEngine(config);
  if (engine === "transformers") return null;
  if (type !== null && LLAMA_CPP_TYPES.includes(type)) return `${name}: llama.cpp`;
  return `${name}: the trainer, since llama.cpp is given ${LLAMA_CPP_TYPES.join(", ")} here and this is ${type ?? "unknown"}`;
}

function checkUpstream({ host, problem, kind, hole, models }: UpstreamLook): Finding {
  if (problem !== null)
    return warning(
      "upstream",
      problem,
      "This machine answers for its own models meanwhile; the upstream is asked again with each chat.",
    );
  const names = models.length > 4 ? `${models.slice(0, 4).join(", ")} and ${models.length - 4} more` : models.join(", ");
  const adapters = {
    vllm: "adapters are handed to it (VLLM_ALLOW_RUNTIME_LORA_UPDATING)",
    sglang: "adapters are handed to it (--enable-lora)",
    "llama-server": "adapters are used that it was started with",
    openai: "it takes no adapters",
  };
  const serves = `${host} (${kind}) serves ${names || "nothing"}; ${adapters[kind ?? "openai"]}`;
  return hole === null ? ok("upstream", serves) : warning("upstream", `${serves}; ${hole}`, "Update that server.");
}

/** Who answers chats, and why: the upstream by what it says now. */
export async function checkEngine(config: Config): Promise<readonly Finding[]> {
  const bases = await basesOf(config);
  const look =
    config.upstream === null
      ? null
      : await lookAtUpstream(
          config.upstream,
          bases.map(({ name }) => name),
        );
  const upstream = look === null ? [] : [checkUpstream(look)];
  const said = bases.flatMap((base) => answersFor(base, config, look) ?? []).join("; ");
  const choice = chooseEngine(config);
  const chosen = `engine from ${config.origins.engine}`;
  if (choice.engine === "transformers" && choice.missing !== null)
    return [
      warning(
        "engine",
        `llama.cpp is not installed: the trainer answers chats${said === "" ? "" : ` (${said})`}`,
        "imprint setup installs it; --engine transformers does without",
      ),
      ...upstream,
    ];
  const who = choice.engine === "transformers" ? "the trainer" : "llama.cpp";
  return [ok("engine", `${who} answers chats (${chosen})${said === "" ? "" : `; ${said}`}`), ...upstream];
}

/** Whether what answers for adapters applies them, as the running service measured it. */
export async function checkServed({ settings: { data_dir }, token }: Config): Promise<readonly Finding[]> {
  const found = await discover({ dataDir: data_dir, token });
  const { adapters } = found ? await found.client.adapters.list({ limit: 100 }) : { adapters: [] };
  const measured = adapters.flatMap(({ adapter_id: id, served }) => (served === null ? [] : [{ id, served }]));
  if (measured.length === 0) return [];
  const said = (some: typeof measured): string => some.map(({ id, served }) => `${id} by ${servedText(served)}`).join("; ");
  const wrong = measured.filter(({ served }) => !served.applied);
  if (wrong.length === 0) return [ok("served", said(measured))];
  return [warning("served", `ADAPTER_NOT_APPLIED: ${said(wrong)}`, ERRORS.ADAPTER_NOT_APPLIED.hint)];
}
