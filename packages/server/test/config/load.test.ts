import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigError } from "../../src/common/error.js";
import { type LoadOptions, loadConfig } from "../../src/config/load.js";
import { makeFolder } from "../support/service.js";

const load = (options: LoadOptions & { readonly file?: object | string; readonly setup?: object } = {}) => {
  const home = makeFolder();
  const dataDir = join(home, ".imprint");
  mkdirSync(dataDir);
  const { file, setup, ...rest } = options;
  if (file !== undefined) writeFileSync(join(dataDir, "config.json"), typeof file === "string" ? file : JSON.stringify(file));
  if (setup !== undefined) writeFileSync(join(dataDir, "setup.json"), JSON.stringify(setup));
  return loadConfig({ env: {}, home, repoRoot: home, ...rest });
};

test("a flag beats the environment, which beats the file, which beats setup, which beats the default", () => {
  const setup = { python: "/setup/python", default_model: "setup-model", models: {} };
  const { settings, origins } = load({
    flags: { slots: 4 },
    env: { IMPRINT_SLOTS: "3", IMPRINT_MAX_QUEUED: "7" },
    file: { slots: 2, max_queued: 5, base_model: "file-model" },
    setup,
  });
  expect(settings).toMatchObject({ slots: 4, max_queued: 7, base_model: "file-model", python: "/setup/python", port: 7878 });
  expect(origins).toMatchObject({
    slots: "flag",
    max_queued: "environment",
    base_model: "file",
    python: "setup",
    port: "default",
  });
});

test("text of flags and variables is read as the setting's type", () => {
  const { settings } = load({ flags: { port: "0", allow_downloads: "true" }, env: { IMPRINT_ALLOW_HOST: "a.lan, b.lan:8443" } });
  expect(settings).toMatchObject({ port: 0, allow_downloads: true, allow_host: ["a.lan", "b.lan:8443"] });
});

test.each<[string, Parameters<typeof load>[0], RegExp]>([
  ["an unknown key in the file", { file: { slot: 2 } }, /slot in config.json is not a setting/],
  ["an unknown flag", { flags: { slot: 2 } }, /--slot is not a setting/],
  ["a number out of range", { env: { IMPRINT_SLOTS: "0" } }, /IMPRINT_SLOTS must be >= 1/],
  ["text for a number", { env: { IMPRINT_PORT: "80a" } }, /IMPRINT_PORT must be integer/],
  ["a fraction for an integer", { flags: { port: "1.5" } }, /--port must be integer/],
  ["text for a number in the file", { file: { port: "80" } }, /port in config.json must be integer/],
  ["a host that is none", { flags: { allow_host: "http://x/" } }, /--allow-host/],
  ["a file that is no object", { file: "[]" }, /not a JSON object/],
  ["a file that is no JSON", { file: "{" }, /not a JSON object/],
  ["data_dir in the file", { file: { data_dir: "/elsewhere" } }, /data_dir in config.json is not allowed/],
  ["a wide bind without a token", { flags: { host: "0.0.0.0" } }, /reachable from other machines/],
  ["a bind to all IPv6 addresses", { flags: { host: "::" } }, /reachable from other machines/],
  ["a short token", { flags: { token: "secret" } }, /--token/],
  [
    "a token file that is not there",
    { flags: { upstream: "http://127.0.0.1:1", upstream_token_file: "/nowhere/token" } },
    /upstream_token_file cannot be read/,
  ],
])("%s is refused by name", (_case, options, message) => {
  expect(() => load(options)).toThrow(ConfigError);
  expect(() => load(options)).toThrow(message);
});

test("every problem is told at once", () => {
  expect(() => load({ flags: { port: "x" }, file: { nope: 1 } })).toThrow(/--port[\s\S]*nope/);
});

test("a misspelt variable is warned of, one of the set-up is not", () => {
  const env = { IMPRINT_SLOT: "2", IMPRINT_CACHE_DIR: "/cache", IMPRINT_SETUP_PYTHON: "/python" };
  expect(load({ env }).warnings).toEqual(["the environment variable IMPRINT_SLOT is not a setting of the service"]);
});

test("a token's file may be readable by its group, as Kubernetes mounts it, and nothing more by others", () => {
  const path = join(makeFolder(), "token");
  const token = "a-token-of-enough-length";
  writeFileSync(path, `${token}\n`);
  const flags = { upstream: "http://127.0.0.1:1", upstream_token_file: path };
  for (const mode of [0o644, 0o604, 0o660, 0o602, 0o777]) {
    chmodSync(path, mode);
    expect(() => load({ flags }), mode.toString(8)).toThrow(
      /upstream_token_file can be read or changed by other users: chmod 600/,
    );
  }
  for (const mode of [0o600, 0o400, 0o640, 0o440]) {
    chmodSync(path, mode);
    expect(load({ flags }).upstream?.token, mode.toString(8)).toBe(token);
  }
});

test("a secret volume of Kubernetes is read through its links, and its token is not among the settings", () => {
  const volume = makeFolder();
  const token = "a-token-of-enough-length";
  mkdirSync(join(volume, "..2026_11_25"));
  writeFileSync(join(volume, "..2026_11_25", "token"), token, { mode: 0o640 });
  symlinkSync("..2026_11_25", join(volume, "..data"));
  symlinkSync(join("..data", "token"), join(volume, "token"));
  const config = load({ flags: { upstream: "http://127.0.0.1:1", upstream_token_file: join(volume, "token") } });
  expect(config.upstream?.token).toBe(token);
  expect(JSON.stringify(config.settings)).not.toContain(token);
});

test("a token of an upstream that is not set is warned of, whatever its file, and refuses nothing", () => {
  const { upstream, warnings } = load({ env: { IMPRINT_UPSTREAM_TOKEN_FILE: "/nowhere/token" } });
  expect([upstream, warnings]).toEqual([
    null,
    ["upstream_token_file is not used: upstream, the address that it is for, is not set"],
  ]);
  expect(load({ env: { IMPRINT_UPSTREAM_TOKEN: "secret" } }).warnings).toEqual([
    "the environment variable IMPRINT_UPSTREAM_TOKEN is not a setting of the service",
  ]);
});

test("paths are made absolute, and names of models are left alone", () => {
  const home = makeFolder();
  const paths = loadConfig({
    flags: { data_dir: "~/data", base_model: "./models/mine" },
    env: {},
    home,
    repoRoot: home,
  }).settings;
  expect(paths).toMatchObject({ data_dir: join(home, "data"), base_model: join(process.cwd(), "models/mine") });
  expect(load({ flags: { base_model: "owner/name" } }).settings.base_model).toBe("owner/name");
});

test("a setup file of another shape counts as none", () => {
  expect(load({ setup: { python: 3 } }).setup).toBeNull();
});
