import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../lib/setup/main.mjs";

const read = (file) => readFileSync(path.join(ROOT, file), "utf8");
const pins = (file) =>
  read(file)
    .match(/^[a-z0-9][a-z0-9._-]*==[^\\\n]+/gm)
    .map((pin) => pin.trim());
const agents = (file) =>
  readdirSync(path.join(ROOT, "scripts", "agents"))
    .map((name) => `scripts/agents/${name}/${file}`)
    .filter((place) => existsSync(path.join(ROOT, place)));
const LOCKS = [
  ...["requirements", "requirements-dev", "requirements-tools", "requirements-ray", "requirements-store"].map(
    (name) => `trainer/${name}.lock`,
  ),
  ...agents("requirements.lock"),
];

const entries = (file) => read(file).split(/\n(?=[a-z0-9])/);

test("the developers' Python lock repeats nothing that the runtime one holds", () => {
  const runtime = new Set(entries("trainer/requirements.lock"));
  expect(entries("trainer/requirements-dev.lock").filter((entry) => runtime.has(entry))).toEqual([]);
});

test.each(["dev", "store"])("what the %s lock shares with the runtime's is in the same versions", (name) => {
  const versions = (file) => pins(file).map((pin) => pin.split(" ", 1)[0].split("=="));
  const runtime = new Map(versions("trainer/requirements.lock"));
  const differing = versions(`trainer/requirements-${name}.lock`).filter(
    ([name, version]) => runtime.has(name) && runtime.get(name) !== version,
  );
  expect(differing).toEqual([]);
});

test.each(LOCKS)("every pin of %s has a hash", (file) => {
  expect(entries(file).filter((entry) => /^[a-z0-9]/.test(entry) && !entry.includes("--hash=sha256:"))).toEqual([]);
  expect(pins(file).length).toBeGreaterThan(0);
});

const NPM_LOCKS = ["package-lock.json", "packages/server/llama-cpp/package-lock.json", ...agents("package-lock.json")];

test.each(NPM_LOCKS)("%s has an entry for every platform's build, as npm ci demands", (file) => {
  const { packages } = JSON.parse(read(file));
  const missing = Object.entries(packages).flatMap(([at, entry]) =>
    Object.keys(entry.optionalDependencies ?? {}).filter(
      (name) => !(`node_modules/${name}` in packages || `${at}/node_modules/${name}` in packages),
    ),
  );
  expect(missing).toEqual([]);
});

test.each(NPM_LOCKS)("%s says nothing of where packages were fetched from", (file) => {
  const { packages } = JSON.parse(read(file));
  expect(Object.entries(packages).filter(([, entry]) => /^https?:/.test(entry.resolved ?? ""))).toEqual([]);
});
