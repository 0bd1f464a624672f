import { codeOf } from "../common/error.js";
import type { TaskAnswer, TaskRequest } from "./process-pool.js";
import { runTask } from "./tasks.js";

/** The process that large files are read in: a program of its own, which answers each request before the next. */
process.on("message", async ({ name, task }: TaskRequest) => {
  const answer = await runTask(name, task).then(
    (done): TaskAnswer => ({ done }),
    (error: unknown): TaskAnswer => ({
      message: error instanceof Error ? error.message : String(error),
      code: codeOf(error) ?? null,
    }),
  );
  process.send?.(answer);
});
// A terminal's Ctrl-C reaches this process too, and the service, which decides, lets requests end. Without it there is nobody to answer.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());
