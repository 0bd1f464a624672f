import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Interrupted } from "../process/failures.mjs";
import { run } from "../process/run.mjs";
import { BEFORE, FILE, NOWHERE } from "./clients.mjs";
import { judge } from "./judge.mjs";
import { MODEL, startScripted } from "./service.mjs";

const LIMIT_MS = 180_000;
const HERE = "127.0.0.1,localhost";

/** What a program that knows nothing of this machine's user sees. */
const environment = ({ home, programs, env }) => ({
  PATH: [programs, path.dirname(process.execPath), env.PATH].join(path.delimiter),
  HOME: home,
  LANG: "C.UTF-8",
  TERM: "dumb",
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

/** Lets an agent do the task; resolves with what is wrong with the outcome, in sentences, and with what the agent said. */
export async function attempt({ name, client, programs, root, env, signal }) {
  const folder = mkdtempSync(path.join(os.tmpdir(), `imprint-agent-${name}-`));
  const [home, repository] = ["home", "repository"].map((part) => path.join(folder, part));
  for (const made of [home, repository]) mkdirSync(made);
  const own = environment({ home, programs, env });
  const at = (file) => path.join(repository, file);
  const git = (...args) => run("git", args, { cwd: repository, env: own, signal });
  const settings = Object.entries(client.settings ?? {}).map(([file, text]) => [path.join(home, file), text]);
  const said = [];
  try {
    for (const [file, text] of settings) {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    writeFileSync(at(FILE), BEFORE);
    await git("init", "--quiet");
    await git("add", ".");
    await git("commit", "--quiet", "--message", "Close the gates");
    const script = client.script(at);
    const service = await startScripted({ folder, root, script });
    const launch = [path.join(root, "packages", "cli", "bin", "imprint.mjs"), "launch", name, MODEL, "--record", "--"];
    const failure = await run(process.execPath, [...launch, ...client.args], {
      cwd: repository,
      env: { ...own, IMPRINT_DATA_DIR: service.dataDir },
      signal,
      timeoutMs: LIMIT_MS,
      onLine: (line) => said.push(line),
      name,
    }).then(
      () => null,
      (error) => error,
    );
    const sessions = await service.end();
    if (failure instanceof Interrupted) throw failure;
    const changed = settings
      .filter(([file, text]) => readFileSync(file, "utf8") !== text)
      .map(([file]) => path.relative(home, file));
    return { wrong: judge({ failure, text: readFileSync(at(FILE), "utf8"), sessions, script, changed }), said };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
