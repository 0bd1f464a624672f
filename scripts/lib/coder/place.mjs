import { mkdirSync } from "node:fs";
import path from "node:path";
import { createClient } from "../../../packages/client/dist/index.js";
import { CommandFailure } from "../process/failures.mjs";
import { run } from "../process/run.mjs";

/** Who waits is told something this often. */
const LONGEST_SILENCE_MS = 15_000;

/** An empty home, and the command in it as its user runs it. `folder` is for what is written outside the home. */
export function createPlace({ folder, root, env, signal, longestSilenceMs = LONGEST_SILENCE_MS }) {
  const home = path.join(folder, "home");
  mkdirSync(home);
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !/^(IMPRINT|HF)_/.test(name)));
  const program = path.join(root, "packages", "cli", "bin", "imprint.mjs");
  const options = { cwd: folder, env: { ...own, HOME: home, USERPROFILE: home }, name: "imprint" };
  const imprint = (args, more) => run(process.execPath, [program, ...args, "--json"], { ...options, ...more });
  let stop = new AbortController();
  let serving = Promise.resolve();
  const close = () => {
    stop.abort();
    return serving;
  };
  return {
    folder,
    root,
    env,
    signal,
    dataDir: path.join(home, ".imprint"),
    /** Resolves with the JSON document that the command printed. Throws where it failed, and where it was silent for too long. */
    async imprint(...args) {
      let [heard, silence, before, last] = [Date.now(), 0, "", "its start"];
      const onLine = (line) => {
        const now = Date.now();
        if (now - heard > silence) [silence, before] = [now - heard, last];
        [heard, last] = [now, line];
      };
      const { stdout, output } = await imprint(args, { signal, onLine });
      onLine("its end");
      if (silence > longestSilenceMs) {
        const sentence = `imprint ${args[0]} was silent for ${Math.round(silence / 1000)} s after: ${before}`;
        throw Object.assign(new Error(sentence), { output: output.replace(stdout, "") });
      }
      return JSON.parse(stdout);
    },
    /** Resolves with the error that the command ended with. */
    async refusal(...args) {
      const failed = await imprint(args, { signal }).catch((error) => error);
      if (failed instanceof CommandFailure && failed.stdout.startsWith("{")) return JSON.parse(failed.stdout).error;
      throw failed instanceof Error ? failed : new Error(`imprint ${args.join(" ")} was not refused`);
    },
    /** Starts the service, which ends with this place or with the next one. Resolves with its address and a client. */
    async serve(...args) {
      await close();
      stop = new AbortController();
      const url = await new Promise((resolve, reject) => {
        const onLine = (line) => line.startsWith('{"url"') && resolve(JSON.parse(line).url);
        serving = imprint(["serve", "--port", "0", ...args], { signal: stop.signal, onLine }).catch(reject);
      });
      return { url, client: createClient({ baseUrl: url }) };
    },
    close,
  };
}
