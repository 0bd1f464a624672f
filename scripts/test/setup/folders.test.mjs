import { existsSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { digest } from "../../lib/setup/digest.mjs";
import { cacheFolder, environmentFolder } from "../../lib/setup/environment.mjs";
import { ROOT } from "../../lib/setup/main.mjs";
import { CATALOGUE, modelFolder, PREPARING_CODE } from "../../lib/setup/model.mjs";
import { npmCommand, npmKey } from "../../lib/setup/npm.mjs";
import { inVenv, pythonEnv } from "../../lib/setup/python-env.mjs";

describe("the cache is", () => {
  test.each([
    ["where IMPRINT_CACHE_DIR says", { IMPRINT_CACHE_DIR: "/big/disk", XDG_CACHE_HOME: "/xdg" }, "linux", "/big/disk"],
    ["below XDG_CACHE_HOME", { XDG_CACHE_HOME: "/xdg" }, "linux", "/xdg/imprint"],
    ["in the home folder when XDG_CACHE_HOME is relative", { XDG_CACHE_HOME: "xdg" }, "linux", "/home/ada/.cache/imprint"],
    ["in Library/Caches on macOS", {}, "darwin", "/home/ada/Library/Caches/imprint"],
    ["in the local application data on Windows", { LOCALAPPDATA: "C:\\Ada\\Local" }, "win32", "C:\\Ada\\Local\\imprint\\cache"],
  ])("%s", (_name, env, platform, folder) => {
    expect(cacheFolder({ env, platform, home: "/home/ada" })).toBe(folder);
  });
});

test("a digest tells where one part ends and the next begins", () => {
  const parts = fc.array(fc.string(), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(parts, parts, (one, other) => {
      expect(digest(...one) === digest(...other)).toBe(JSON.stringify(one) === JSON.stringify(other));
    }),
  );
  expect(digest("ab", "c")).not.toBe(digest("a", "bc"));
});

test("an environment has another folder for each lock, Python version, system and processor", () => {
  const at = (change) =>
    environmentFolder({
      root: ROOT,
      cache: "/cache",
      kind: "dev",
      python: { version: [3, 11, 2] },
      platform: "linux",
      arch: "x64",
      ...change,
    });
  const folders = [
    at({}),
    at({ kind: "runtime" }),
    at({ python: { version: [3, 12, 2] } }),
    at({ platform: "darwin" }),
    at({ arch: "arm64" }),
  ];
  expect(new Set(folders).size).toBe(folders.length);
  expect(at({ python: { version: [3, 11, 9] } })).toBe(at({}));
});

test("the npm stamp changes with Node's major version, not with its minor one", () => {
  const key = (node) => npmKey(ROOT, { node, platform: "linux", arch: "x64" });
  expect(key("22.1.0")).not.toBe(key("20.19.0"));
  expect(key("20.20.0")).toBe(key("20.19.0"));
});

test("the model's folder names it, and the code that its key covers exists", () => {
  expect(path.basename(modelFolder({ root: ROOT, cache: "/cache" }))).toMatch(/^SmolLM2-135M-Instruct-[0-9a-f]{16}$/);
  expect([CATALOGUE, ...PREPARING_CODE].filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});

test("Python's programs keep the package clients' settings and lose what would lead them elsewhere", () => {
  const env = {
    PIP_INDEX_URL: "a",
    UV_CACHE_DIR: "b",
    PATH: "c",
    PYTHONPATH: "d",
    PYTHONHOME: "e",
    PIP_USER: "1",
    VIRTUAL_ENV: "f",
  };
  expect(pythonEnv(env)).toEqual({ PIP_INDEX_URL: "a", UV_CACHE_DIR: "b", PATH: "c" });
});

test("an environment's programs are in bin, on Windows in Scripts", () => {
  expect(inVenv("env", "uv", "linux")).toBe(path.join("env", "bin", "uv"));
  expect(inVenv("env", "uv", "win32")).toBe(path.join("env", "Scripts", "uv.exe"));
});

test("npm is run as a Node script where its script is found, and by name elsewhere", () => {
  const script = path.join("/apps/npm/bin", "npm-cli.js");
  const env = { npm_execpath: script, PATH: "" };
  expect(npmCommand({ env, node: "/apps/node", exists: (file) => file === script })).toEqual(["/apps/node", script]);
  expect(npmCommand({ env: { npm_execpath: "/apps/yarn.js", PATH: "" }, node: "/apps/node", exists: () => false })).toEqual([
    "npm",
  ]);
});
