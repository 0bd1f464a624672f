import { adapters } from "./001-adapters.js";
import { sessions } from "./002-sessions.js";
import { sessionsOfAdapters } from "./003-sessions-of-adapters.js";
import { trainingSpeeds } from "./004-training-speeds.js";
import { partialAdapters } from "./005-partial-adapters.js";
import { uploads } from "./006-uploads.js";
import { sessionWords } from "./007-session-words.js";
import { sessionFiles } from "./008-session-files.js";
import { sessionTimes } from "./009-session-times.js";
import { evaluations } from "./010-evaluations.js";
import { projects } from "./011-projects.js";
import type { Migration } from "./migration.js";

/** In order; the schema's version is the number of steps applied. */
export const MIGRATIONS: readonly Migration[] = [
  adapters,
  sessions,
  sessionsOfAdapters,
  trainingSpeeds,
  partialAdapters,
  uploads,
  sessionWords,
  sessionFiles,
  sessionTimes,
  evaluations,
  projects,
];
