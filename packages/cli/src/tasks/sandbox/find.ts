import path from "node:path";
import { UsageError } from "../../errors.js";
import type { Io } from "../../io.js";
import { inTemporary } from "../folders.js";
import { foldersOf, programIn } from "../on-path.js";
import type { Sandbox } from "../sandbox.js";
import { bubblewrap } from "./bubblewrap.js";
import { container } from "./container.js";
import { none } from "./none.js";

const ENGINES = { bwrap: bubblewrap, podman: container("podman"), docker: container("docker") };

/** Why a sandbox does not run what it must; null where it does. */
const whyNot = (sandbox: Sandbox): Promise<string | null> =>
  inTemporary(async (workspace) => {
    const limits = { seconds: 60, memoryMb: 256, processes: 32, fileMb: 16 };
    const said = await sandbox.run({ command: ["true"], workspace, port: null, limits }).catch((error: Error) => error.message);
    if (typeof said === "string") return said;
    return said.code === 0 ? null : (said.stderr.trim().split("\n").at(-1) ?? `it ended with ${said.code}`);
  });

/**
 * What runs agents and checks: bubblewrap where it works, else podman or docker, or nothing that protects where `noSandbox` asks for it.
 * Throws a UsageError that names the remedy where none works.
 */
export async function findSandbox({ io, noSandbox }: { readonly io: Io; readonly noSandbox: boolean }): Promise<Sandbox> {
  if (noSandbox) return none;
  const failures: string[] = [];
  // A relative one may be a repository's own.
  const folders = foldersOf(io.env).filter((folder) => path.isAbsolute(folder));
  for (const [program, engine] of Object.entries(ENGINES)) {
    const place = programIn(folders, program);
    if (place === undefined) continue;
    const sandbox = engine(place);
    const failure = await whyNot(sandbox);
    if (failure === null) return sandbox;
    failures.push(`${program} does not work here: ${failure}`);
  }
  const found =
    failures.length > 0 ? failures.join("\n") : "neither bubblewrap nor podman nor docker is here to run it in a sandbox";
  throw new UsageError(`${found}\napt-get install bubblewrap (0.8 or newer), or --no-sandbox where you trust what runs`);
}
