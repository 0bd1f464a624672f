import type { Imprint } from "@imprint/client";
import type { Outcome } from "@imprint/contracts";
import { importSessions, summarize } from "@imprint/sessions";
import type { Candidate } from "../files/candidate.js";
import { bodyOf, sourcesOf } from "../files/recorded.js";
import type { Store } from "./import-files.js";

/** What the caller knows of the sessions beside their files. */
export interface Known {
  readonly outcome?: Outcome;
  readonly folder?: string;
}

/** What the caller says goes before what stands beside the file. */
const knownOf = ({ outcome, folder }: Candidate, known: Known): Known => ({
  ...(outcome && { outcome }),
  ...(folder !== undefined && { folder }),
  ...known,
});

/** Stores through the service, which knows what it has. */
export const storing =
  (client: Imprint, known: Known): Store =>
  async (candidate, signal) => {
    const { created, sessions, warnings } = await client.sessions.create(bodyOf(candidate), {
      ...knownOf(candidate, known),
      signal,
    });
    return { status: created ? "stored" : "known", sessions, warnings };
  };

/** Reads as the service would, and stores nothing. */
export const dryRun =
  (known: Known): Store =>
  async (candidate) => {
    const { sessions, warnings } = await importSessions(sourcesOf(candidate), knownOf(candidate, known));
    const digests = sessions.map((session) => ({
      session_id: session.session_id,
      format: session.source.format,
      outcome: session.outcome,
      redactions: session.redactions,
      ...summarize(session),
    }));
    return { status: "readable", sessions: digests, warnings };
  };
