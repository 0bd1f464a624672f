import {
  ERRORS,
  type ErrorCode,
  ProjectRunRequest,
  SalvageRequest,
  TrainHypernetworkRequest,
  TrainLoraPreviewRequest,
  TrainSweepRequest,
} from "@imprint/contracts";
import { SETTING_NAMES } from "@imprint/server/configuration";
import { COMMANDS } from "../commands/names.js";
import { flagOf } from "../flags/from-schema.js";

/** What to do about an error where the catalogue says it to a program that speaks HTTP. */
const HINTS: Partial<Record<ErrorCode, string>> = {
  VALIDATION_FAILED: "imprint COMMAND --help lists the options.",
  MALFORMED_JSON: "Command and service may be of different versions: imprint setup.",
  UNSUPPORTED_MEDIA_TYPE: "docs/sessions.md lists the formats that can be imported.",
  BAD_REQUEST: "Command and service may be of different versions: imprint setup.",
  NOT_FOUND: "imprint adapters and imprint models list what is there.",
  METHOD_NOT_ALLOWED: "Command and service may be of different versions: imprint setup.",
  SESSION_NOT_FOUND: "imprint sessions lists the stored ones; imprint import stores more.",
  CHECKPOINT_NOT_FOUND:
    "imprint jobs lists the jobs. LoRA trainings leave one when they are cancelled or fail after a while; old ones are removed.",
  FILE_NOT_FOUND: "Only files of OpenAI's clients are asked for by id; imprint sessions lists the stored sessions.",
  ORIGIN_NOT_ALLOWED:
    "Something between the command and the service changed the request: use the address that the service printed.",
  UNAUTHORIZED: "Set IMPRINT_TOKEN to the token that the service was started with.",
  INTERNAL_ERROR: "The log of the service names the cause.",
  ADAPTER_HARMS: "Lower --learning-rate or --epochs; what a hypernetwork made worse, train with --method lora.",
  SESSION_TRAINED_ON: "Name others with --on; imprint sessions lists those stored.",
  NOTHING_HELD_OUT: "Name more or longer sessions, or a larger part of them with --holdout.",
  NOTHING_TO_EVALUATE: "Import a later session of the same work, or name sessions with --on.",
  PROJECT_NOT_FOUND: "imprint projects lists those there; imprint project NAME --from FOLDER makes one.",
  PROJECT_BUSY: "Wait for its end, or cancel its job: imprint cancel JOB.",
  ROLLBACK_IMPOSSIBLE: "imprint project NAME shows its runs.",
  HYPERNETWORK_NOT_INSTALLED: "Train without --method hypernetwork; imprint hypernetworks lists those installed.",
};

/** The commands that do what these calls do. */
const ROUTES: Readonly<Record<string, string>> = {
  "GET /jobs": "imprint jobs",
  "GET /sessions": "imprint sessions",
  "POST /sessions": "imprint import",
  "GET /adapters": "imprint adapters",
  "POST /adapters/{id}/export": "imprint export ID",
  "POST /adapters/{id}/evaluate": "imprint evaluate ID",
  "GET /projects": "imprint projects",
  "POST /projects/{name}/runs": "imprint project NAME",
  "POST /projects/{name}/rollback": "imprint project NAME --rollback",
  "POST /train/lora": "imprint train",
  "POST /train/sweep": "imprint sweep",
  "GET /v1/models": "imprint models",
};

/** Fields that the command line calls something else than a flag of their name. */
const OTHERWISE = {
  name: "NAME",
  control_adapter_id: "--control",
  session_id: "SESSION",
  session_ids: "SESSION",
  trajectory_ids: "SESSION",
  resume_from: "--resume",
  folders: "--from",
};

const WORDS: ReadonlyMap<string, string> = new Map([
  ...[TrainLoraPreviewRequest, TrainHypernetworkRequest, TrainSweepRequest, SalvageRequest, ProjectRunRequest]
    .flatMap(({ properties }) => Object.keys(properties))
    .concat(SETTING_NAMES)
    .map((field): [string, string] => [field, flagOf(field)]),
  ...Object.entries(OTHERWISE),
]);

/** Also as it was called already: a sentence may come through here twice. */
const COMMAND = new RegExp(
  `(?<![\\w./-])(?:npx )?imprint (?=(?:${COMMANDS.map(({ name }) => name).join("|")}|COMMAND|--help)\\b)`,
  "g",
);

/** A sentence of the service in the words of the command line: flags for fields, commands for calls, and both as this one was called. */
export const inCommandWords = (text: string, name: string): string =>
  text
    .replaceAll(/\b(?:GET|POST) \/[\w/{}-]*/g, (call) => ROUTES[call] ?? call)
    .replaceAll(
      /(?<![\w./-])(Field )?([a-z]+(?:_[a-z]+)*)(?![\w/-]|\.\w| in config\.json)/g,
      (said: string, field: string | undefined, word: string) =>
        field !== undefined || word.includes("_") ? (WORDS.get(word) ?? said) : said,
    )
    .replaceAll(COMMAND, `${name} `);

/** What a field of a request is called on the command line. `path` is a JSON pointer. */
export const fieldInCommandWords = (path: string): string => {
  const [, field = ""] = path.split("/");
  return WORDS.get(field) ?? field;
};

/** What to do about an error, to a user of the command. `given` came with the error, and may know more than the catalogue. */
export const hintFor = (code: ErrorCode, given?: string): string =>
  given === undefined || given === ERRORS[code].hint ? (HINTS[code] ?? ERRORS[code].hint) : given;
