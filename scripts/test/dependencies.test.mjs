import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const read = (...parts) => readFileSync(join(root, ...parts), "utf8");

/** Under these Imprint may be given away with what it needs. */
const FREE = /^\(?(MIT|ISC|0BSD|Apache|BSD|BlueOak|MPL|Mozilla|PSF|Python Software|Unlicense|Dual License|DFSG)/;

describe.each([
  ["package-lock.json", []],
  // The registry that this lock was made with holds no others: npm takes those as they come.
  ["packages/server/llama-cpp/package-lock.json", ["linux-riscv64", "mac-arm64-metal", "mac-x64", "win-arm64", "win-x64"]],
])("%s", (lock, absent) => {
  const packages = Object.entries(JSON.parse(read(lock)).packages)
    .filter(([place, { link }]) => place.includes("node_modules/") && !place.endsWith("/no-gpu") && !link)
    .map(([place, facts]) => ({ name: place.split("node_modules/").at(-1), ...facts }));
  const names = (wrong) => packages.filter(wrong).map(({ name }) => name);

  it("has a hash of every package", () => {
    expect(names(({ integrity }) => !integrity)).toEqual(absent.map((name) => `@node-llama-cpp/${name}`));
  });

  it("holds free software alone", () => {
    expect(packages.length).toBeGreaterThan(100);
    expect(names(({ license }) => !FREE.test(license))).toEqual([]);
  });
});

it("nothing that a package brings runs when it is installed", () => {
  expect(read("package-lock.json")).not.toContain("hasInstallScript");
  expect(read("scripts/lib/setup/llama-cpp.mjs")).toContain("--ignore-scripts");
});

it("the commands that lock pass over a version in its first week", () => {
  expect(read("CONTRIBUTING.md")).toContain("`npm install --min-release-age=7`");
  const commands = read("CONTRIBUTING.md").match(/^uv pip compile .+$/gm);
  expect(commands.length).toBeGreaterThan(2);
  for (const command of commands) expect(command).toContain('--exclude-newer "7 days"');
});

const LOCKS = readdirSync(join(root, "trainer")).filter((file) => file.endsWith(".lock"));

it.each(LOCKS)("trainer/%s pins each package with its hash, from no place of its own", (file) => {
  const entries = read("trainer", file)
    .replaceAll("\\\n", "")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.trimStart().startsWith("#"));
  expect(entries.length).toBeGreaterThan(1);
  for (const entry of entries)
    expect(entry).toMatch(/^[\w.-]+(\[[\w,-]+\])?==[\w.+!]+( ;[^#]+?)?( +--hash=sha256:[0-9a-f]{64})+/);
});

// What torch brings for cards is NVIDIA's, and its user's to accept.
it("the trainer's environment holds free software alone", () => {
  const { python } = JSON.parse(read(".imprint", "setup.json"));
  const lib = join(dirname(python), "..", "lib");
  const [version] = readdirSync(lib).filter((name) => name.startsWith("python3"));
  const site = join(lib, version, "site-packages");
  const licences = readdirSync(site)
    .filter((name) => name.endsWith(".dist-info") && !/^(cuda|nvidia)_/.test(name))
    .map((name) => {
      const [head] = readFileSync(join(site, name, "METADATA"), "utf8").split("\n\n", 1);
      const said = [/^License-Expression: (.+)$/m, /^Classifier: License :: (?:OSI Approved :: )?(.+)$/m, /^License: (.+)$/m];
      return [name, said.map((pattern) => pattern.exec(head)?.[1]).find(Boolean) ?? ""];
    });
  expect(licences.length).toBeGreaterThan(50);
  expect(licences.filter(([, licence]) => !FREE.test(licence))).toEqual([]);
});
