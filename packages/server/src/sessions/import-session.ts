import type { Importer } from "./importer.js";

export const importSession: Importer = async () => {
  throw Object.assign(new Error("not yet"), { code: "SESSION_UNREADABLE" });
};
