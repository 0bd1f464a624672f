import { beginsAs } from "./content-text.js";

/** How agents begin the result of a command that ended with another exit code than 0, where no field says so. */
const FAILED = [
  /^<returncode>\s*-?0*[1-9]/, // mini-SWE-agent
  /^(?:Error: )?Exit code -?0*[1-9]/, // Claude Code, in transcripts that others wrote
] as const;

export const hasFailed = (result: string): boolean => beginsAs(FAILED, result);
