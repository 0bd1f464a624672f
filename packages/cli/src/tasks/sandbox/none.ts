import { spawn } from "node:child_process";
import type { Sandbox } from "../sandbox.js";
import { limited } from "./inside.js";
import { supervise } from "./supervise.js";

/** No sandbox: the command may do what its user may, with the user's PATH and home. What it starts in a session of its own outlives it. */
export const none: Sandbox = {
  name: "none",
  run: (request) => {
    const { PATH = "", HOME = "", TMPDIR = "/tmp" } = process.env;
    const [program = "", ...args] = limited({ ...request, port: null });
    const child = spawn(program, args, {
      cwd: request.workspace,
      env: { PATH, HOME, TMPDIR, ...request.env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const kill = (): void => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // The group has ended.
      }
    };
    return supervise({ child, root: () => child.pid ?? null, kill, gone: async () => kill() }, request);
  },
};
