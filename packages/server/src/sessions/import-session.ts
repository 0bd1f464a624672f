import type { Importer } from "./importer.js";

/** The importers of packages/sessions, on bytes that are in memory. Loaded at the first use, so that the start does not wait. */
export const importSession: Importer = async (bytes, { format, outcome, name = "The file" }) => {
  const { importSessions } = await import("@imprint/sessions");
  const { sessions, warnings } = await importSessions([{ name, bytes }], {
    ...(format && { format }),
    ...(outcome && { outcome }),
  });
  return { sessions, warnings };
};
