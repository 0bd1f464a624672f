import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SetupFailure } from "../../lib/process/failures.mjs";
import { environmentFolder, lockKey } from "../../lib/setup/environment.mjs";
import { llamaCppKey } from "../../lib/setup/llama-cpp.mjs";
import { main, ROOT } from "../../lib/setup/main.mjs";
import { CATALOGUE, MODEL_NAME, modelFolder } from "../../lib/setup/model.mjs";
import { npmKey } from "../../lib/setup/npm.mjs";
import { inVenv } from "../../lib/setup/python-env.mjs";
import { readStamp, writeStamp } from "../../lib/setup/stamp.mjs";

const NEEDED = [
  "package.json",
  "package-lock.json",
  ".npmrc",
  "tsconfig.base.json",
  "packages/contracts",
  "packages/server/llama-cpp",
  "packages/web/index.html",
  "packages/web/src",
  "scripts/lib/bundle.mjs",
  "scripts/lib/dashboard.mjs",
  "trainer",
];
const PYTHON = { version: [3, 11, 2], executable: "python" };

let root;
let cache;
let started;
beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), "imprint-setup-"));
  cache = path.join(root, "cache");
  started = [];
  const wanted = (file) => !/node_modules|[/\\](dist|tests|\.\w+_cache|__pycache__)$/.test(file);
  for (const name of NEEDED) cpSync(path.join(ROOT, name), path.join(root, name), { recursive: true, filter: wanted });
});
afterEach(() => rmSync(root, { recursive: true }));

/** The parts that start programs, replaced by ones that leave what those leave; the decisions between them are the real ones. */
const steps = (change = {}) => {
  const named = {
    installNpmPackages: () => writeStamp(path.join(root, "node_modules", ".imprint-setup.json"), { key: npmKey(root) }),
    build: async () => {
      const { buildKey } = await import("../../lib/setup/build.mjs");
      mkdirSync(path.join(root, "packages", "contracts", "dist"), { recursive: true });
      writeFileSync(path.join(root, "packages", "contracts", "dist", "index.js"), "");
      writeStamp(path.join(root, "packages", "web", "bundle", "built.json"), { key: "any" });
      writeStamp(path.join(root, ".imprint", "build.json"), { key: buildKey(root) });
    },
    findPython: () => PYTHON,
    prepareTools: () => ({ pip: [process.execPath] }),
    prepareEnvironment: ({ dev }) => environment(dev ? "dev" : "runtime"),
    prepareModel: ({ folder }) => mkdirSync(folder, { recursive: true }),
    prepareLlamaCpp: () => llamaCpp(),
    prepareRay: () => {},
    ...change,
  };
  const watched = Object.entries(named).map(([name, step]) => [
    name,
    async (options) => {
      started.push(name);
      return await step(options);
    },
  ]);
  return Object.fromEntries(watched);
};

const LLAMA_CPP = "packages/server/llama-cpp";
const llamaCpp = () => writeStamp(path.join(root, LLAMA_CPP, "node_modules", ".imprint-setup.json"), { key: llamaCppKey(root) });

const environment = (kind) => {
  const folder = environmentFolder({ root, cache, kind, python: PYTHON });
  mkdirSync(path.dirname(inVenv(folder)), { recursive: true });
  writeFileSync(inVenv(folder), "");
  writeStamp(path.join(folder, ".complete"), { lock: lockKey(root, kind) });
  return inVenv(folder);
};

const setUp = async ({ args = [], change = {} } = {}) => {
  started = [];
  let said = "";
  const stream = { write: (text) => (said += text) };
  const code = await main({ args, env: { IMPRINT_CACHE_DIR: cache }, root, stream, steps: steps(change) });
  return { code, said, started: started.toSorted() };
};

const ALL = [
  "build",
  "findPython",
  "installNpmPackages",
  "prepareEnvironment",
  "prepareLlamaCpp",
  "prepareModel",
  "prepareTools",
];
const PYTHON_PART = ["findPython", "prepareEnvironment", "prepareTools"];

test("a fresh clone gets every part, and a file that says where they are", async () => {
  const { code, said, started } = await setUp();
  expect({ code, started }).toEqual({ code: 0, started: ALL });
  expect(said).toContain("Set up in");
  const model = modelFolder({ root, cache });
  expect(readStamp(path.join(root, ".imprint", "setup.json"))).toEqual({
    python: inVenv(environmentFolder({ root, cache, kind: "runtime", python: PYTHON })),
    pip: process.execPath,
    default_model: "SmolLM2-135M-Instruct",
    models: { "SmolLM2-135M-Instruct": model },
  });
});

test("the second time nothing is started, in less than a second", async () => {
  await setUp();
  const before = performance.now();
  expect(await setUp()).toEqual({ code: 0, said: "Set up already; nothing to do.\n", started: [] });
  expect(performance.now() - before).toBeLessThan(1000);
});

test.each([
  ["package-lock.json", ["build", "installNpmPackages"]],
  ["packages/contracts/src/ids.ts", ["build"]],
  ["trainer/requirements.lock", PYTHON_PART],
  ["trainer/src/imprint_trainer/bases/convert.py", [...PYTHON_PART, "prepareModel"].toSorted()],
  ["packages/contracts/test/ids.test.ts", []],
])("a change of %s does %j again", async (file, expected) => {
  await setUp();
  writeFileSync(path.join(root, file), `${readFileSync(path.join(root, file), "utf8")}\n`);
  expect((await setUp()).started).toEqual(expected);
  expect((await setUp()).started).toEqual([]);
});

test("the default model is prepared again when its entry of the catalogue changes, and not when another's does", async () => {
  await setUp();
  const file = path.join(root, CATALOGUE);
  const entries = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...entries, another: entries[MODEL_NAME] }));
  expect((await setUp()).started).toEqual([]);
  writeFileSync(file, JSON.stringify({ [MODEL_NAME]: { ...entries[MODEL_NAME], context: 1 } }));
  expect((await setUp()).started).toEqual([...PYTHON_PART, "prepareModel"].toSorted());
});

test("the developers' environment serves the demo too, and not the other way round", async () => {
  await setUp();
  expect((await setUp({ args: ["--dev"] })).started).toEqual(PYTHON_PART);
  expect((await setUp()).started).toEqual([]);
});

test("llama.cpp is left out where it is asked for, and installed alone later; again when its lock changes or it was removed", async () => {
  const without = { args: ["--no-llama-cpp"] };
  expect((await setUp(without)).started).toEqual(ALL.filter((step) => step !== "prepareLlamaCpp"));
  expect((await setUp(without)).started).toEqual([]);
  expect((await setUp()).started).toEqual(["prepareLlamaCpp"]);
  const lock = path.join(root, LLAMA_CPP, "package-lock.json");
  writeFileSync(lock, `${readFileSync(lock, "utf8")}\n`);
  expect((await setUp()).started).toEqual(["prepareLlamaCpp"]);
  rmSync(path.join(root, LLAMA_CPP, "node_modules"), { recursive: true });
  expect((await setUp()).started).toEqual(["prepareLlamaCpp"]);
});

test("an environment whose marker was never written is made again", async () => {
  await setUp();
  rmSync(path.join(environmentFolder({ root, cache, kind: "runtime", python: PYTHON }), ".complete"));
  expect((await setUp()).started).toEqual(PYTHON_PART);
});

test("an environment whose interpreter was removed is made again", async () => {
  await setUp();
  rmSync(inVenv(environmentFolder({ root, cache, kind: "runtime", python: PYTHON })));
  expect((await setUp()).started).toEqual(PYTHON_PART);
});

test("a failed part is told in its sentence, with what the program said, and leaves no lock and no setup.json", async () => {
  const prepareEnvironment = () =>
    Promise.reject(new SetupFailure("No package registry can be reached.", { output: "dns error" }));
  const { code, said } = await setUp({ change: { prepareEnvironment } });
  expect(code).toBe(1);
  expect(said).toMatch(/dns error\n\nNo package registry can be reached\.\n$/);
  expect(
    [".imprint/setup.json", ".imprint/setup.lock", "cache/.lock"].filter((file) => existsSync(path.join(root, file))),
  ).toEqual([]);
  expect((await setUp()).code).toBe(0);
});

test("what was downloaded of a model that failed is not left behind", async () => {
  const models = path.join(cache, "models");
  const prepareModel = () => {
    mkdirSync(path.join(models, ".pull-x"), { recursive: true });
    throw new SetupFailure("No.");
  };
  await setUp({ change: { prepareModel } });
  expect(readdirSync(models)).toEqual([]);
});

test("an unknown option is wrong usage", async () => {
  expect(await setUp({ args: ["--devel"] })).toMatchObject({ code: 2, started: [] });
});
