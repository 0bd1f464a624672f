import { importSessions } from "@imprint/sessions";
import type { Importer } from "./importer.js";

/** The importers of packages/sessions, on bytes that are in memory. */
export const importSession: Importer = async (bytes, { format, name = "The file" }) => {
  const { sessions, warnings } = await importSessions([{ name, bytes }], format === undefined ? {} : { format });
  return { sessions, warnings };
};
