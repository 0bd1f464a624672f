import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { run } from "../process/run.mjs";
import { NOWHERE } from "./clients.mjs";

const HERE = "127.0.0.1,localhost";

/** What a program that knows nothing of this machine's user sees. */
const environment = ({ home, programs, env }) => ({
  PATH: [programs, path.dirname(process.execPath), env.PATH].join(path.delimiter),
  HOME: home,
  LANG: "C.UTF-8",
  TERM: "dumb",
  // A source that is mended within a second looks the same to bytecode that was cached.
  PYTHONDONTWRITEBYTECODE: "1",
  // Who asks for another host is refused at once.
  HTTP_PROXY: NOWHERE,
  HTTPS_PROXY: NOWHERE,
  http_proxy: NOWHERE,
  https_proxy: NOWHERE,
  NO_PROXY: HERE,
  no_proxy: HERE,
  ...Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((who) => [
      [`GIT_${who}_NAME`, "Imprint"],
      [`GIT_${who}_EMAIL`, "imprint@localhost"],
    ]),
  ),
});

const launchOptions = ({ record, url }) => [...(record ? ["--record"] : []), ...(url === undefined ? [] : ["--url", url])];

/** A git repository of these files, and a home folder, in `folder`. Resolves with how to start an agent there as its user would, with `imprint launch`. */
export async function makeWorkspace({ folder, files, programs, root, env, signal }) {
  const [home, repository] = ["home", "repository"].map((part) => path.join(folder, part));
  for (const made of [home, repository]) mkdirSync(made, { recursive: true });
  const own = environment({ home, programs, env });
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(repository, file), text);
  const git = (...args) => run("git", args, { cwd: repository, env: own, signal });
  await git("init", "--quiet");
  await git("add", ".");
  await git("commit", "--quiet", "--message", "As it was");
  const imprint = path.join(root, "packages", "cli", "bin", "imprint.mjs");
  return {
    home,
    repository,
    /** Resolves with why the agent failed, an error, or null. `url` is where the service is, unless that of the data directory is meant. */
    launch: ({ name, model, args, dataDir, url, record = false, onLine, timeoutMs }) =>
      run(process.execPath, [imprint, "launch", name, model, ...launchOptions({ record, url }), "--", ...args], {
        cwd: repository,
        env: { ...own, IMPRINT_DATA_DIR: dataDir },
        signal,
        timeoutMs,
        onLine,
        name,
      }).then(
        () => null,
        (error) => error,
      ),
  };
}
