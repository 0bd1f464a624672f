import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VERSION } from "../../packages/contracts/dist/index.js";
import { run } from "../lib/process/run.mjs";
import { cacheFolder } from "../lib/setup/environment.mjs";
import { ROOT } from "../lib/setup/main.mjs";
import { npmCommand } from "../lib/setup/npm.mjs";

/** An empty home, in which the package is installed as a person installs it; what a clone has downloaded is not downloaded again. */
const place = mkdtempSync(path.join(os.tmpdir(), "imprint-package-"));
const home = path.join(place, "home");
const prefix = path.join(place, "prefix");
const env = {
  PATH: [path.join(prefix, "bin"), process.env.PATH].join(path.delimiter),
  HOME: home,
  IMPRINT_CACHE_DIR: cacheFolder(),
  npm_config_prefer_offline: "true",
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(npm_config|pip)_/i.test(name))),
};
const imprint = (...args) => run("imprint", args, { cwd: home, env });
let installed;

async function pack(folder) {
  await run(process.execPath, [path.join(ROOT, "scripts", "package.mjs"), path.join(place, folder)]);
  const [file] = readdirSync(path.join(place, folder));
  return path.join(place, folder, file);
}

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  const [command, ...before] = npmCommand({ env: process.env });
  const cache = (await run(command, [...before, "config", "get", "cache"])).stdout.trim();
  await run(
    command,
    [...before, "install", "--global", "--prefix", prefix, "--cache", cache, "--no-audit", await pack("first")],
    { env },
  );
  installed = path.join(prefix, "lib", "node_modules", "@imprint-lora", "imprint");
}, 300_000);
afterAll(() => rmSync(place, { recursive: true, force: true }));

const digest = (file) => createHash("sha256").update(readFileSync(file)).digest("hex");

test("two packages are equal bytes, and hold no place of this machine", async () => {
  const [first] = readdirSync(path.join(place, "first"));
  expect(digest(await pack("second"))).toBe(digest(path.join(place, "first", first)));
  const texts = readdirSync(path.join(installed, "packages", "cli", "bundle")).filter((name) => name.endsWith(".js"));
  for (const name of texts)
    expect(readFileSync(path.join(installed, "packages", "cli", "bundle", name), "utf8")).not.toContain(ROOT);
});

test("it names the packages that it brings or sets up, and none of the developers'", async () => {
  const { bomFormat, components } = JSON.parse(readFileSync(path.join(installed, "sbom.cdx.json"), "utf8"));
  expect(bomFormat).toBe("CycloneDX");
  const names = new Set(components.map(({ purl }) => purl));
  const [command, ...before] = npmCommand({ env: process.env });
  const listing = ["ls", "--all", "--omit", "dev", "--package-lock-only", "--json"];
  const { stdout } = await run(command, [...before, ...listing], { cwd: ROOT });
  const needed = new Set();
  const walk = ({ dependencies = {} }) => {
    for (const [name, one] of Object.entries(dependencies)) {
      if (one.version && !name.startsWith("@imprint/")) needed.add(`pkg:npm/${name.replace("@", "%40")}@${one.version}`);
      walk(one);
    }
  };
  walk(JSON.parse(stdout));
  expect(needed.size).toBeGreaterThan(100);
  expect([...needed].filter((purl) => !names.has(purl))).toEqual([]);
  expect([...names].filter((purl) => /^pkg:npm\/(vitest|typescript|playwright-core)@/.test(purl))).toEqual([]);
  for (const pin of readFileSync(path.join(ROOT, "trainer", "requirements.lock"), "utf8").match(/^[\w.-]+==[\w.+!]+/gm))
    expect(names).toContain(`pkg:pypi/${pin.replace("==", "@")}`);
});

test("it tells its version, and before the set-up says what to do", async () => {
  expect((await imprint("--version")).stdout).toBe(VERSION);
  await expect(imprint("doctor")).rejects.toMatchObject({ code: 1, output: expect.stringContaining("imprint setup installs") });
});

test("no hint leads to a package of the name imprint, which is not ours", async () => {
  const { stdout } = await run("imprint", ["train", "--help"], { env: { ...env, npm_lifecycle_event: "npx" } });
  expect(stdout).toContain("$ imprint train");
  expect(stdout).not.toContain("npx");
});

test("set up, it imports, serves the dashboard, and is removed without the sessions", async () => {
  expect((await imprint("setup", "--no-llama-cpp")).output).toContain("Set up in");
  expect((await imprint("setup", "--no-llama-cpp")).output).toContain("nothing to do");
  const example = path.join(installed, "examples", "sessions", "harborline-gates.json");
  await imprint("import", example);
  const service = new AbortController();
  let serving;
  const { url } = await new Promise((resolve, reject) => {
    const onLine = (line) => line.startsWith('{"url"') && resolve(JSON.parse(line));
    serving = run("imprint", ["serve", "--port", "0", "--json"], { env, signal: service.signal, onLine }).catch(reject);
  });
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ service: "imprint", version: VERSION });
  expect(await (await fetch(url)).text()).toContain("<title>Imprint");
  expect((await fetch(`${url}/docs/swagger-ui.css`)).status).toBe(200);
  const upgrade = () => imprint("upgrade", "--no-llama-cpp", "--json");
  const { code, output } = await upgrade().catch((error) => error);
  expect([code, output]).toEqual([1, expect.stringContaining("stop it")]);
  expect(output).not.toContain("nothing to do"); // the set-up's word
  service.abort();
  await serving;
  const data_dir = path.join(home, ".imprint");
  const { stdout } = await upgrade();
  expect(JSON.parse(stdout)).toEqual({ data_dir, older: null });
}, 120_000);

test("removing asks first, takes what the set-up made, and keeps sessions, adapters and what is not ours", async () => {
  await expect(imprint("uninstall")).rejects.toMatchObject({ code: 2, output: expect.stringContaining("--yes") });
  // Of a cache of its own: the clone's is still needed.
  const cache = path.join(place, "cache");
  const interpreter = path.join(cache, "python-key", "bin", "python");
  for (const name of [path.dirname(interpreter), path.join(cache, "models"), path.join(cache, "mine")])
    mkdirSync(name, { recursive: true });
  const file = path.join(installed, ".imprint", "setup.json");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), python: interpreter }));
  const { removed } = JSON.parse((await imprint("uninstall", "--yes", "--json")).stdout);
  const state = path.join(installed, ".imprint");
  expect(removed.map((one) => one.path)).toEqual([path.join(cache, "models"), path.join(cache, "python-key"), state]);
  expect(existsSync(state)).toBe(false);
  expect(readdirSync(cache)).toEqual(["mine"]);
  const { sessions } = JSON.parse((await imprint("sessions", "--json")).stdout);
  expect(sessions).toMatchObject([{ session_id: "harborline-gates" }]);
  await imprint("uninstall", "--yes", "--everything");
  expect(existsSync(path.join(home, ".imprint"))).toBe(false);
});
