import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { UsageError } from "../../errors.js";
import type { Io } from "../../io.js";
import type { Sandbox } from "../sandbox.js";
import { bubblewrap } from "./bubblewrap.js";
import { spawnWithin } from "./spawn.js";

/** For those who know what they run: only time ends it. */
const none: Sandbox = {
  name: "none",
  run: async (request) => {
    const home = await mkdtemp(path.join(tmpdir(), "imprint-home-"));
    const env = { PATH: process.env.PATH ?? "", HOME: home, TMPDIR: home, ...request.env };
    return spawnWithin(request.command, request, env).finally(() => rm(home, { recursive: true, force: true }));
  },
};

export async function findSandbox({ noSandbox }: { readonly io: Io; readonly noSandbox: boolean }): Promise<Sandbox> {
  if (noSandbox) return none;
  if (spawnSync("bwrap", ["--version"]).status === 0) return bubblewrap;
  throw new UsageError("there is no bubblewrap: apt-get install bubblewrap, or --no-sandbox for what you trust");
}
