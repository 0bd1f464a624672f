import { execFileSync } from "node:child_process";
import { bubblewrap } from "../../../../src/tasks/sandbox/bubblewrap.js";
import { none } from "../../../../src/tasks/sandbox/none.js";
import type { Sandbox } from "../../../../src/tasks/sandbox.js";

/** Where bubblewrap is and works; null elsewhere. */
function bwrap(): string | null {
  try {
    const place = execFileSync("/bin/sh", ["-c", "command -v bwrap"], { encoding: "utf8" }).trim();
    execFileSync(place, ["--unshare-all", "--ro-bind", "/", "/", "true"], { stdio: "ignore" });
    return place;
  } catch {
    return null;
  }
}

const place = bwrap();
export const SANDBOXES: readonly Sandbox[] = [none, ...(place === null ? [] : [bubblewrap(place)])];
