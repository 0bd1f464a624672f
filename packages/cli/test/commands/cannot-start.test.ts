import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { build } from "../support/build.js";
import { type Ended, imprint } from "../support/imprint.js";
import { place, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

/** Sentences, and no trace. */
function expectRefusal({ code, stdout, stderr }: Ended, exitCode: number): void {
  expect(stderr).toMatch(/^error: /);
  expect(stderr).not.toMatch(/\n\s+at |Unexpected|fault of imprint|(?<![\w-])E[A-Z]{4,}\b/);
  expect([code, stdout]).toEqual([exitCode, ""]);
}

/** Data directories that cannot be: what makes them, and what is said. */
const IMPOSSIBLE: readonly (readonly [what: string, make: (root: string) => Promise<string>, sentence: RegExp])[] = [
  ["in a folder that takes none", async () => "/proc/imprint", /The data directory .* cannot be used: nothing can be made there/],
  [
    "deep in a folder that takes none",
    async () => "/proc/a/b/c",
    /The data directory .* cannot be used: nothing can be made there/,
  ],
  [
    "that is a file",
    async (root) => {
      const file = path.join(root, "file");
      await writeFile(file, "");
      return file;
    },
    /The data directory .* cannot be used: a file is in the way/,
  ],
  [
    "below a file",
    async (root) => {
      await writeFile(path.join(root, "file"), "");
      return path.join(root, "file", "data");
    },
    /The data directory .* cannot be used: a file is in the way/,
  ],
  [
    "whose lock cannot be written",
    async (root) => {
      await mkdir(path.join(root, "data", "service.lock"), { recursive: true });
      return path.join(root, "data");
    },
    /The data directory .* cannot be used: its files cannot be written/,
  ],
];

describe.each(IMPOSSIBLE)("a data directory %s", (_what, make, sentence) => {
  it.each(["serve --port 0", "sessions", "train some-session", "import ."])("is refused by imprint %s", async (line) => {
    const { root, env } = await place();
    const dataDir = await make(root);
    const ended = await imprint(line.split(" "), { env: { ...env, IMPRINT_DATA_DIR: dataDir } });
    expectRefusal({ ...ended, stderr: ended.stderr.replace(/^No service runs.*\n/, "") }, 2);
    expect(ended.stderr).toMatch(sentence);
    expect(ended.stderr).toContain("--data-dir");
  });
});

it.each(IMPOSSIBLE.filter(([what]) => !what.includes("lock")))(
  "imprint doctor names a data directory %s",
  async (_what, make) => {
    const { root, env } = await place();
    const { stdout } = await imprint(["doctor", "--json"], { env: { ...env, IMPRINT_DATA_DIR: await make(root) } });
    const { checks } = JSON.parse(stdout) as { checks: readonly { readonly name: string; readonly status: string }[] };
    expect(checks.find(({ name }) => name === "data directory")?.status).toBe("missing");
  },
);

describe("an address that cannot be listened on", () => {
  it("is taken by another imprint", async () => {
    const other = await servedPlace();
    const { env } = await place();
    const { port } = new URL(other.server.url);
    const ended = await imprint(["serve", "--port", port], { env });
    expectRefusal(ended, 1);
    expect(ended.stderr).toContain(`127.0.0.1:${port} is taken: another service of Imprint answers there`);
    expect(ended.stderr).toContain("--port 0");
  });

  it("is taken by a program that says nothing", async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void silent.close());
    const address = silent.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { env } = await place();
    const ended = await imprint(["serve", "--port", String(port)], { env });
    expectRefusal(ended, 1);
    expect(ended.stderr).toContain(`127.0.0.1:${port} is taken: another program listens there`);
    expect(ended.stderr).toContain("--port 0");
  });

  it.each([
    ["192.0.2.1", "192.0.2.1 is not an address of this machine"],
    ["no-such-host.invalid", "no-such-host.invalid is not the name of an address"],
  ])("%s", async (host, sentence) => {
    const { env } = await place();
    const token = "a-token-of-more-than-22-letters";
    const ended = await imprint(["serve", "--port", "0", "--host", host], { env: { ...env, IMPRINT_TOKEN: token } });
    expectRefusal(ended, 2);
    expect(ended.stderr).toContain(sentence);
    expect(ended.stderr).toContain("--host");
  });
});

describe("an empty token is no protection", () => {
  it.each([
    ["IMPRINT_TOKEN", { IMPRINT_TOKEN: "" }, []],
    ["--token", {}, ["--token", ""]],
  ])("%s is refused when it is empty", async (name, variables, flags) => {
    const { env } = await place();
    const ended = await imprint(["serve", "--port", "0", ...flags], { env: { ...env, ...variables } });
    expectRefusal(ended, 2);
    expect(ended.stderr).toContain(name);
  });

  it("nor is an empty setting in the data directory", async () => {
    const { dataDir, env } = await place();
    await mkdir(dataDir);
    await writeFile(path.join(dataDir, "config.json"), '{"token": ""}');
    expectRefusal(await imprint(["serve", "--port", "0"], { env }), 2);
  });
});
