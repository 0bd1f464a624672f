import { type Static, Type } from "typebox";
import { anyName, Strict, smallName, worded } from "./object.js";

/** A session's id: the file name under `sessions/`, so no separators and no leading dot. */
export const SessionId = Type.String({
  ...worded("^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$", anyName(128)),
  description: "Session id",
});

/** An adapter's id: the folder name under `adapters/` and the name that servers load it by. */
export const AdapterId = Type.String({
  ...worded("^[a-z0-9][a-z0-9._-]{0,63}$", smallName(64, "gates-v1")),
  description: "Adapter id",
});

/** How an adapter is named where it is asked for: by its id, or as the latest of a project. */
export const AdapterName = Type.String({
  ...worded("^[a-z0-9][a-z0-9._-]{0,63}(?:@latest)?$", smallName(64, "gates-v1 or shop@latest")),
  description: "Adapter id, or NAME@latest of a project",
});

/** A job's id, made by the service: 26 characters of Crockford base32 (a ULID), lower case. */
export const JobId = Type.String({
  ...worded("^[0-9a-hjkmnp-tv-z]{26}$", "26 small letters and digits, as the start of a job answers them"),
  description: "Job id",
});

const MODEL_NAME = "^[A-Za-z0-9][A-Za-z0-9._-]{0,95}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,95})?$";

const A_MODEL = "a name that models list, such as qwen2.5-coder-0.5b-instruct, or a hub's OWNER/NAME";

/** A prepared model's name, or a hub id `owner/name`. What adapters are registered under; never a path. */
export const BaseModelName = Type.String({
  ...worded(MODEL_NAME, A_MODEL),
  description: "Name of a prepared base model, or a hub id owner/name",
});

/** A base model as requests name it. A folder is one of the service's machine, in its `model_roots`. */
export const BaseModelChoice = Type.String({
  ...worded(`${MODEL_NAME}|^(?:~?/|[A-Za-z]:[\\\\/])[^\\u0000-\\u001f]{0,4095}$`, `${A_MODEL}, or a folder`),
  description: "Name of a prepared base model, a hub id owner/name, or a folder of the service's machine",
});

/** SHA-256 in lower-case hexadecimal. */
export const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });

/** An instant in ISO 8601, UTC. */
export const Timestamp = Type.String({ description: "ISO 8601 instant, UTC" });

/** A file of an adapter, as the trainer wrote it and the service re-hashed it. */
export const AdapterFile = Strict({
  name: Type.String({ pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$" }),
  size: Type.Integer({ minimum: 0 }),
  sha256: Sha256,
});
export type AdapterFile = Static<typeof AdapterFile>;
