import path from "node:path";
import type { Imprint } from "@imprint/client";
import { importSessions, summarize } from "@imprint/sessions";
import type { Store } from "./import-files.js";

/** Stores through the service, which knows what it has. */
export const storing =
  (client: Imprint): Store =>
  async (bytes) => {
    const { created, sessions, warnings } = await client.sessions.create(bytes);
    return { status: created ? "stored" : "known", sessions, warnings };
  };

/** Reads as the service would, and stores nothing. */
export const dryRun: Store = async (bytes, file) => {
  const { sessions, warnings } = await importSessions([{ name: path.basename(file), bytes }]);
  const digests = sessions.map((session) => ({
    session_id: session.session_id,
    format: session.source.format,
    outcome: session.outcome,
    redactions: session.redactions,
    ...summarize(session),
  }));
  return { status: "readable", sessions: digests, warnings };
};
