import { benchmark as chat } from "./chat/benchmark.mjs";
import { benchmark as corrections } from "./corrections/benchmark.mjs";
import { benchmark as importSpeed } from "./import-speed/benchmark.mjs";
import { benchmark as jobs } from "./jobs/benchmark.mjs";
import { benchmark as memory } from "./memory/benchmark.mjs";
import { benchmark as mutants } from "./mutants/benchmark.mjs";
import { benchmark as nextSession } from "./next-session/benchmark.mjs";
import { benchmark as redaction } from "./redaction/benchmark.mjs";
import { benchmark as roofline } from "./roofline/benchmark.mjs";
import { benchmark as tasks } from "./tasks/benchmark.mjs";
import { benchmark as train } from "./train/benchmark.mjs";

/** What `npm run bench` offers; a new one is a module that exports its name, description, options and `run`. */
export const BENCHMARKS = [importSpeed, train, roofline, memory, chat, jobs, redaction, nextSession, corrections, tasks, mutants];
