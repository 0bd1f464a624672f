import { expect, test } from "vitest";
import { CommandFailure } from "../../lib/process/failures.mjs";
import { diskProblem, ENVIRONMENT_BYTES, requireDisk } from "../../lib/setup/disk.mjs";
import { explain, explaining } from "../../lib/setup/explain.mjs";

test("a disk too small is refused with what is needed, what is free and what to do", async () => {
  const free = 3.25 * 1024 ** 3;
  expect(diskProblem({ free, needed: ENVIRONMENT_BYTES, folder: "/cache" })).toBe(
    "Not enough disk space: the set-up needs about 8 GB in /cache and 3.3 GB are free. Free some space, or set IMPRINT_CACHE_DIR to a folder on a larger disk.",
  );
  await expect(requireDisk({ folder: "/cache", needed: 2, freeBytes: async () => 1 })).rejects.toThrow("Not enough disk space");
});

test("enough disk passes, also for a folder that does not exist yet", async () => {
  expect(diskProblem({ free: 2, needed: 2, folder: "/cache" })).toBeNull();
  await requireDisk({ folder: "/no/such/folder/yet", needed: 1 });
});

const said = (tool, output) => explain({ tool, doing: "installing things", output });

test.each([
  ["npm", "npm error code ECONNREFUSED"],
  ["npm", "npm error network request to x failed, reason: getaddrinfo ENOTFOUND x"],
  ["pip", "WARNING: Retrying ... NewConnectionError('Failed to establish a new connection')"],
  ["pip", "ERROR: Could not find a version that satisfies the requirement uv==0.13.8 (from versions: none)"],
  ["uv", "error: Failed to fetch: `x`\n  Caused by: error sending request for url\n  Caused by: tcp connect error"],
  ["uv", "  Caused by: client error (Connect)\n  Caused by: dns error"],
])("%s without a network: no registry can be reached, and where %s reads its settings", (tool, output) => {
  expect(said(tool, output)).toMatch(
    /^No package registry can be reached \(installing things\)\. Check the network; .*index|registry/,
  );
  expect(said(tool, output)).toContain(tool);
});

test.each([
  ["uv", "invalid peer certificate: UnknownIssuer", "certificate is not trusted"],
  ["npm", "npm error code SELF_SIGNED_CERT_IN_CHAIN", "certificate is not trusted"],
  ["pip", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "does not have the hash"],
  ["npm", "npm error code EINTEGRITY", "does not have the hash"],
  ["uv", "No space left on device (os error 28)", "disk filled up"],
  [
    "npm",
    "npm error `npm ci` can only install packages when your package.json and package-lock.json or x are in sync.",
    "npm install",
  ],
  ["uv", "x has no wheels with a matching Python ABI tag", "no build of a package for this platform"],
  ["npm", "something else", "Installing things failed."],
])("%s that says %j is explained", (tool, output, sentence) => {
  expect(said(tool, output)).toContain(sentence);
});

test("a failed program becomes a sentence that keeps what it said; any other error passes", async () => {
  const failing = (error) => explaining({ tool: "uv", doing: "installing" }, () => Promise.reject(error));
  const failed = new CommandFailure({ command: "uv", code: 2, output: "dns error" });
  await expect(failing(failed)).rejects.toMatchObject({ name: "SetupFailure", output: "uv exited with code 2\ndns error" });
  await expect(failing(new RangeError("other"))).rejects.toThrow(RangeError);
});
