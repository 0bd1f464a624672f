import { execFile } from "node:child_process";
import { CommandError } from "../errors.js";

const isGits = (name: string): boolean => name.startsWith("GIT_") && name !== "GIT_SSH_COMMAND";

/** Nothing of a git that started this process: a hook names its own repository in the environment. It asks for no password. */
const environment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !isGits(name))),
  GIT_TERMINAL_PROMPT: "0",
  // One state is one commit, with the same id each time.
  GIT_AUTHOR_DATE: "2000-01-01T00:00:00Z",
  GIT_COMMITTER_DATE: "2000-01-01T00:00:00Z",
});

/** Runs git in a folder that no agent has written to: an agent's `.git/config` could name programs. Throws a CommandError with git's words. */
export function git(folder: string, args: readonly string[], input = ""): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, env: environment(), maxBuffer: 256 * 2 ** 20 };
    const child = execFile("git", args, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      if (error.code === "ENOENT")
        return reject(new CommandError("git is not installed, or not on the PATH: apt-get install git"));
      const said = stderr.trim().split("\n").slice(0, 5).join("\n");
      reject(new CommandError(`git ${args[0]}: ${said || error.message}`));
    });
    child.stdin?.on("error", () => undefined); // git refused before it read all
    child.stdin?.end(input);
  });
}
