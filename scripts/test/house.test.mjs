import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { boundsOf } from "../lib/house/bounds.mjs";
import { circlesOf, closureOf, folderGraph } from "../lib/house/circles.mjs";
import { isProduct, lineCount, trackedFiles } from "../lib/house/files.mjs";
import { importsIn, pythonGraph, scriptGraph } from "../lib/house/imports.mjs";
import { measureHouse, settingsIn, wordsIn } from "../lib/house/measure.mjs";
import { overBound, report } from "../lib/house/report.mjs";
import { walkLora } from "../lib/house/walk.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

test.each([
  ["the house", measureHouse],
  ["the walk through a LoRA training", walkLora],
])("%s is within its bounds", (_, measure) => {
  const { figures } = measure(ROOT);
  expect(boundsOf(figures).filter(overBound)).toEqual([]);
  for (const [name, figure] of Object.entries(figures)) expect(figure, name).toBeGreaterThanOrEqual(0);
});

test("lines are counted with and without a last newline", () => {
  expect(["", "one", "one\n", "one\n\ntwo\n"].map(lineCount)).toEqual([0, 1, 1, 3]);
});

test("words and settings are counted from their text", () => {
  expect(wordsIn("# A page\n\nof  words\n")).toBe(5);
  expect(settingsIn("x;\nconst Settings = Strict({\n  host: A({\n    default: 1,\n  }),\n  port: B,\n});\n  late: 1")).toBe(2);
});

test("only what ships or is run by developers is a product file", () => {
  const product = ["packages/server/src/models/base.ts", "scripts/house.mjs", "trainer/src/a.py", "packages/web/src/a.css"];
  const others = [
    "packages/server/test/a.test.ts",
    "trainer/tests/test_a.py",
    "packages/cli/test/fixtures/a.ts",
    "bench/results/a.mjs",
    "examples/a.py",
    "models/a.py",
    "docs/a.js",
    "package-lock.json",
    "README.md",
  ];
  expect([...product, ...others].filter(isProduct)).toEqual(product);
});

test("an import says what it brings", () => {
  const text = [
    'import "./bare.js";',
    'import type { A } from "./types.js";',
    'import { type B, type C } from "./inline.js";',
    'import { type D, e } from "./mixed.js";',
    'import {\n  f,\n  g,\n} from "./lines.js";',
    'export * from "./star.js";',
    'export type { H } from "./exported.js";',
    'const late = () => import("./late.js");',
  ].join("\n");
  const by = (types) => importsIn(text).flatMap((one) => (one.types === types ? [one.specifier] : []));
  expect(by(true)).toEqual(["./types.js", "./inline.js", "./exported.js"]);
  expect(by(false)).toEqual(["./mixed.js", "./lines.js", "./star.js", "./bare.js", "./late.js"]);
});

test("circles are the strongly connected components of more than one node", () => {
  const graph = new Map(Object.entries({ a: ["b"], b: ["c"], c: ["a", "d"], d: ["e"], e: ["d"], f: ["a", "f"] }));
  expect(circlesOf(graph)).toEqual([
    ["a", "b", "c"],
    ["d", "e"],
  ]);
  expect(closureOf(graph, "d")).toEqual(["d", "e"]);
});

test("a figure above its bound is marked", () => {
  const text = report({ figures: { settings: 10_000, other: 1 }, lists: { note: ["x"] } });
  expect(text).toMatch(/settings +10,000 .* above its bound\n/);
  expect(text).toMatch(/other +1\n/);
  expect(text).toContain("note:\n    x");
});

describe("in a small tree", () => {
  let root;
  const write = (path, text) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "imprint-house-"));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  test("circles between files and rooms count imports of types; a walk may leave them out", () => {
    write("src/main.ts", 'import { a } from "./left/a.js";\n');
    write("src/left/a.ts", 'import { b } from "../right/b.js";\n');
    write("src/right/b.ts", 'import type { C } from "../left/c.js";\nimport x from "pkg";\n');
    write("src/left/c.tsx", 'import { a } from "./a.js";\n');
    const files = ["src/main.ts", "src/left/a.ts", "src/right/b.ts", "src/left/c.tsx"];
    const graph = scriptGraph(root, files);
    expect(circlesOf(graph)).toEqual([["src/left/a.ts", "src/left/c.tsx", "src/right/b.ts"]]);
    expect(circlesOf(folderGraph(graph, "src"))).toEqual([["left", "right"]]);
    const values = scriptGraph(root, files, { types: false });
    expect(circlesOf(values)).toEqual([]);
    expect(closureOf(values, "src/main.ts")).toEqual(["src/main.ts", "src/left/a.ts", "src/right/b.ts"]);
  });

  test("Python's modules are found by all ways to import them", () => {
    write("src/pkg/__init__.py", "");
    write("src/pkg/a.py", "from pkg import b  # the other\nimport os\n");
    write("src/pkg/b.py", "def late():\n    from pkg.room.c import (\n        one,\n        two,\n    )\n");
    write("src/pkg/room/c.py", "import pkg.a\n");
    const files = ["src/pkg/__init__.py", "src/pkg/a.py", "src/pkg/b.py", "src/pkg/room/c.py"];
    const graph = pythonGraph(root, "src", files);
    expect(circlesOf(graph)).toEqual([["src/pkg/a.py", "src/pkg/b.py", "src/pkg/room/c.py"]]);
    expect(circlesOf(folderGraph(graph, "src/pkg"))).toEqual([["a.py", "b.py", "room"]]);
  });

  test("files are those that git tracks and that are still there", () => {
    const git = (...args) => execFileSync("git", args, { cwd: root });
    for (const path of ["kept.ts", "gone.ts", "untracked.ts"]) write(path, "one\n");
    git("init", "-q");
    git("add", "kept.ts", "gone.ts");
    rmSync(join(root, "gone.ts"));
    expect(trackedFiles(root)).toEqual(["kept.ts"]);
  });
});
