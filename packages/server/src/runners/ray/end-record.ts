import { Strict } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import { type Static, Type } from "typebox";
import type { Store } from "./stores/store.js";

const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const Bytes = Type.Integer({ minimum: 0 });

/** How an attempt ended: the last file that its supervisor writes (imprint_node), and the only truth about it. */
export const EndRecord = Strict({
  token: Type.String(),
  job_id: Type.String(),
  how: Type.Union([
    /** It was told to stop before its worker was started. */
    Strict({ type: Type.Literal("never") }),
    Strict({ type: Type.Literal("not_started"), code: Type.String() }),
    /** After a verdict the worker was sent home. */
    Strict({ type: Type.Literal("settled") }),
    Strict({
      type: Type.Literal("exited"),
      code: Type.Union([Type.Integer(), Type.Null()]),
      signal: Type.Union([Type.String({ pattern: "^SIG[A-Z0-9+-]+$" }), Type.Null()]),
    }),
  ]),
  because: Type.Union([Type.Literal("not_ready"), Type.Literal("disk_full"), Type.Null()]),
  events: Strict({ bytes: Bytes, sha256: Sha256 }),
  log_bytes: Bytes,
  files: Type.Array(Strict({ name: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$" }), size: Bytes, sha256: Sha256 })),
});
export type EndRecord = Static<typeof EndRecord>;

const MAX_BYTES = 1024 * 1024;

/** Null where it is not there yet; "foreign" for one that this attempt's supervisor did not write. */
export const readEnd = async (
  store: Store,
  folder: string,
  { token, job_id }: { readonly token: string; readonly job_id: string },
): Promise<EndRecord | "foreign" | null> => {
  const text = await store.read(`${folder}/end.json`);
  if (text === null) return null;
  try {
    const value: unknown = text.length > MAX_BYTES ? null : JSON.parse(text);
    return matches(EndRecord, value) && value.token === token && value.job_id === job_id ? value : "foreign";
  } catch {
    return "foreign";
  }
};
