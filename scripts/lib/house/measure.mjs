import { BOUNDS } from "./bounds.mjs";
import { circlesOf, folderGraph } from "./circles.mjs";
import { bytesOf, isProduct, lineCount, read, trackedFiles } from "./files.mjs";
import { pythonGraph, scriptGraph } from "./imports.mjs";

export const SERVER = "packages/server/src";
export const TRAINER = "trainer/src/imprint_trainer";
const CLUSTER = `${SERVER}/runners/ray`;

const PARTS = {
  trainer: (path) => path.startsWith(`${TRAINER}/`),
  "trainer: doc_to_lora": (path) => path.startsWith("trainer/src/doc_to_lora/"),
  "trainer: cluster": (path) => path.startsWith("trainer/src/imprint_node/"),
  server: (path) => path.startsWith("packages/server/") && !path.startsWith(`${CLUSTER}/`),
  "server: cluster": (path) => path.startsWith(`${CLUSTER}/`),
  cli: (path) => path.startsWith("packages/cli/"),
  web: (path) => path.startsWith("packages/web/"),
  contracts: (path) => path.startsWith("packages/contracts/"),
  sessions: (path) => path.startsWith("packages/sessions/"),
  client: (path) => path.startsWith("packages/client/"),
  scripts: (path) => path.startsWith("scripts/"),
  bench: (path) => path.startsWith("bench/"),
};

/** Lines under which a file has to earn its place: as many as there are, and a new one in the place of another. */
const SMALL = 15;

const PACKAGES = ["contracts", "sessions", "server", "client", "cli", "web"];

const scriptsUnder = (files, folder) => files.filter((path) => path.startsWith(`${folder}/`) && /\.(ts|tsx)$/.test(path));
const pythonUnder = (files, folder) => files.filter((path) => path.startsWith(`${folder}/`) && path.endsWith(".py"));

/** Properties of the schema of settings, from its text: two spaces, a name, a type. */
export const settingsIn = (text) => {
  const body = text.slice(text.indexOf("const Settings = Strict({"), text.indexOf("\n});"));
  return [...body.matchAll(/^ {2}[a-z_]+: /gm)].length;
};

export const wordsIn = (text) => text.split(/\s+/).filter(Boolean).length;

/** Every figure of the house, by its name, and lists that explain some of them. */
export function measureHouse(root) {
  const tracked = trackedFiles(root);
  const product = tracked.filter(isProduct);
  const lines = new Map(product.map((path) => [path, lineCount(read(root, path))]));
  const sum = (paths) => paths.reduce((total, path) => total + lines.get(path), 0);
  const pages = tracked.filter((path) => path.startsWith("docs/") && path.endsWith(".md"));
  const records = pages.filter((path) => /^docs\/adr\/\d/.test(path));
  const small = product.filter((path) => lines.get(path) < SMALL);
  const scripts = PACKAGES.map((name) => scriptGraph(root, scriptsUnder(product, `packages/${name}/src`)));
  const python = pythonGraph(root, "trainer/src", pythonUnder(product, TRAINER));
  const packages = pythonGraph(root, "trainer/src", pythonUnder(product, "trainer/src"));
  const files = [...scripts, packages].flatMap(circlesOf);
  const server = scriptGraph(root, scriptsUnder(product, SERVER));
  const folders = [...circlesOf(folderGraph(server, SERVER)), ...circlesOf(folderGraph(python, TRAINER))];
  return {
    figures: {
      "product lines": sum(product),
      ...Object.fromEntries(Object.entries(PARTS).map(([name, holds]) => [`lines: ${name}`, sum(product.filter(holds))])),
      settings: settingsIn(read(root, `${SERVER}/config/schema.ts`)),
      "circles of files": files.length,
      "circles of folders": folders.length,
      "words of docs": wordsIn(pages.map((path) => read(root, path)).join("\n")),
      "pages of docs": pages.length - records.length,
      "decisions (ADRs)": records.length,
      "small files": small.length,
      "tracked tree, MB": Math.ceil(bytesOf(root, tracked) / 1e5) / 10,
    },
    lists: {
      "circle of files": files.map((circle) => circle.join("\n        ")),
      "circle of folders": folders.map((circle) => circle.join(", ")),
      "small file": small.length > BOUNDS["small files"].bound ? small : [],
    },
  };
}
