import { posix } from "node:path";
import { read } from "./files.mjs";

const STATIC = /^[ \t]*(?:import|export)\b([^"';]*?)\bfrom\s*["']([^"']+)["']/gm;
const BARE = /^[ \t]*import\s*["']([^"']+)["']/gm;
const DYNAMIC = /\bimport\(\s*["']([^"']+)["']/g;

/** Whether a clause such as ` type { A }` or ` { type A, type B }` brings types alone. */
const bringsTypes = (clause) => {
  const text = clause.trim();
  if (/^type\b(?!\s*,)/.test(text)) return true;
  const names = /^\{([\s\S]*)\}$/
    .exec(text)?.[1]
    .split(",")
    .map((name) => name.trim());
  return names?.filter(Boolean).every((name) => name.startsWith("type ")) ?? false;
};

/** What a TypeScript or JavaScript text imports: `{specifier, types}` each; a comment's line begins otherwise. */
export const importsIn = (text) => [
  ...[...text.matchAll(STATIC)].map(([, clause, specifier]) => ({ specifier, types: bringsTypes(clause) })),
  ...[...text.matchAll(BARE), ...text.matchAll(DYNAMIC)].map(([, specifier]) => ({ specifier, types: false })),
];

/** The file of `paths` that a relative specifier leads to. */
const resolved = (from, specifier, paths) => {
  if (!specifier.startsWith(".")) return undefined;
  const target = posix.join(posix.dirname(from), specifier);
  const stem = target.replace(/\.jsx?$/, "");
  return [target, `${stem}.ts`, `${stem}.tsx`, `${stem}/index.ts`].find((path) => paths.has(path));
};

/** Edges between the files, by path. `types: false` leaves out imports of types alone. */
export function scriptGraph(root, files, { types = true } = {}) {
  const paths = new Set(files);
  const targets = (path) =>
    importsIn(read(root, path))
      .filter((one) => types || !one.types)
      .map(({ specifier }) => resolved(path, specifier, paths))
      .filter(Boolean);
  return new Map(files.map((path) => [path, new Set(targets(path))]));
}

const PYTHON_FROM = /^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)/gm;
const PYTHON_IMPORT = /^[ \t]*import[ \t]+([\w.]+)/gm;

/** Names of the modules that a Python text may import: a name of `from a import b` may be the module `a.b`. */
export const pythonImportsIn = (text) => [
  ...[...text.matchAll(PYTHON_FROM)].map(([, module, names]) => [
    module,
    names
      .replace(/#[^\n]*/g, "")
      .replace(/[()]/g, "")
      .split(",")
      .map((name) => name.trim().split(/\s/)[0])
      .filter(Boolean),
  ]),
  ...[...text.matchAll(PYTHON_IMPORT)].map(([, module]) => [module, []]),
];

/** Edges between the Python files under `source`; imports within functions count. */
export function pythonGraph(root, source, files) {
  const moduleOf = (path) =>
    posix
      .relative(source, path)
      .replace(/(\/__init__)?\.py$/, "")
      .replaceAll("/", ".");
  const byModule = new Map(files.map((path) => [moduleOf(path), path]));
  const targets = (path) =>
    pythonImportsIn(read(root, path))
      .flatMap(([module, names]) => {
        const inner = names.map((name) => byModule.get(`${module}.${name}`));
        return names.length > 0 && inner.every(Boolean) ? inner : [...inner, byModule.get(module)];
      })
      .filter((target) => target && target !== path);
  return new Map(files.map((path) => [path, new Set(targets(path))]));
}
