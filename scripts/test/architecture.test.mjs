import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { pythonImportsIn } from "../lib/house/imports.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DOCUMENT = readFileSync(join(ROOT, "docs", "architecture.md"), "utf8");

/** Rows of the table whose head begins so, their cells without marks. */
const tableOf = (head) => {
  const lines = DOCUMENT.split("\n");
  const from = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  expect(from, `docs/architecture.md has the table "${head}"`).toBeGreaterThan(-1);
  const rows = lines.slice(from + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith("|")),
    )
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.replaceAll("`", "").trim()),
    );
};

/** What each room may import, by its name. */
const allowedBy = (rows) =>
  new Map(
    rows.map(([room, , allowed]) => [
      room,
      allowed
        .split(",")
        .map((one) => one.trim())
        .filter(Boolean),
    ]),
  );

const sourcesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));

const importsOf = (file) =>
  [...readFileSync(file, "utf8").matchAll(/(?:from|import\() ?"([^"]+)"/g)].map(([, specifier]) => specifier);

const SERVER = join(ROOT, "packages", "server", "src");
const rooms = allowedBy(tableOf("room of the service"));
const roomOf = (path) => {
  const [first, ...rest] = relative(SERVER, path).split("/");
  return rest.length === 0 ? null : first;
};

test("the table names the rooms that are there, each after those that it imports", () => {
  const there = readdirSync(SERVER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect([...rooms.keys()].sort()).toEqual(there.map(({ name }) => name).sort());
  const names = [...rooms.keys()];
  const early = names.flatMap((room, at) =>
    rooms
      .get(room)
      .filter((one) => !names.slice(0, at).includes(one))
      .map((one) => `${room} before ${one}`),
  );
  expect(early).toEqual([]);
});

test.each([...rooms])("the service's room %s imports what its row says, and nothing else", (room, allowed) => {
  const strays = sourcesIn(join(SERVER, room)).flatMap((file) =>
    importsOf(file)
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => join(dirname(file), specifier))
      .filter((target) => ![room, ...allowed].includes(roomOf(target)))
      .map((target) => `${relative(SERVER, file)} imports ${relative(SERVER, target)}`),
  );
  expect(strays).toEqual([]);
});

const PACKAGES = ["contracts", "sessions", "server", "client", "cli", "web"];

test.each(PACKAGES)("the package %s imports only those packages of Imprint that its row says", (name) => {
  const packages = allowedBy(tableOf("room"));
  const said = packages.get(`packages/${name}`);
  const allowed = said.includes("all of the above") ? PACKAGES : said;
  const strays = sourcesIn(join(ROOT, "packages", name, "src")).flatMap((file) =>
    importsOf(file)
      .filter((specifier) => specifier.startsWith("@imprint/"))
      .filter((specifier) => ![name, ...allowed].includes(specifier.split("/")[1]))
      .map((specifier) => `${relative(ROOT, file)} imports ${specifier}`),
  );
  expect(strays).toEqual([]);
});

const TRAINER = join(ROOT, "trainer", "src");

/** Of a Python package: which of these packages its files import, as "file: package", and "late" within a function. */
const pythonStrays = (name, packages) =>
  readdirSync(join(TRAINER, name), { recursive: true })
    .filter((path) => path.endsWith(".py"))
    .flatMap((path) => {
      const text = readFileSync(join(TRAINER, name, path), "utf8");
      return pythonImportsIn(text)
        .map(([module]) => module)
        .filter((module) => packages.includes(module.split(".")[0]))
        .map((module) => `${path}: ${module}${text.includes(`\nfrom ${module} `) ? "" : ", late"}`);
    });

test("the trainer loads Doc-to-LoRA at one place, and a node's package loads neither", () => {
  expect(pythonStrays("imprint_trainer", ["doc_to_lora", "imprint_node"])).toEqual([
    "imprint/folder.py: doc_to_lora.generate, late",
  ]);
  expect(pythonStrays("imprint_node", ["doc_to_lora", "imprint_trainer"])).toEqual([]);
});
