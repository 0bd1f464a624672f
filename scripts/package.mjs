#!/usr/bin/env node
// npm run package: one npm package of what a person runs, for a machine without a clone: npm install -g FILE, imprint setup.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { run } from "./lib/process/run.mjs";
import { ROOT } from "./lib/setup/main.mjs";
import { npmCommand } from "./lib/setup/npm.mjs";

/** Not `imprint`, which is not ours at the registry: nobody may be led to run another's package. */
const NAME = "@imprint-lora/imprint";
const SBOM = "sbom.cdx.json";
const HELD = [
  "LICENSE",
  "README.md",
  "docs/images",
  "examples/sessions",
  "models",
  "packages/cli/bin",
  "packages/cli/bundle",
  "packages/server/llama-cpp",
  "packages/web/bundle",
  "skills",
  "scripts/demo.mjs",
  "scripts/setup.mjs",
  "scripts/lib/bundle.mjs",
  "scripts/lib/dashboard.mjs",
  "scripts/lib/demo/setup.mjs",
  "scripts/lib/process",
  "scripts/lib/setup",
  "trainer/pyproject.toml",
  "trainer/requirements-dev.lock",
  "trainer/requirements-ray.lock",
  "trainer/requirements-store.lock",
  "trainer/requirements-tools.lock",
  "trainer/requirements.lock",
  "trainer/src",
];
/** What bundles leave where it is: a native library, and files that are read. */
const NEEDED = ["@fastify/swagger-ui", "libsql"];
const LEFT_OUT = new Set(["node_modules", "__pycache__"]);

const folder = path.join(ROOT, ".imprint", "package");
rmSync(folder, { recursive: true, force: true });
for (const name of HELD) {
  cpSync(path.join(ROOT, name), path.join(folder, name), {
    recursive: true,
    filter: (file) => !LEFT_OUT.has(path.basename(file)),
  });
}
const { version, description, license, engines } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
const { packages } = JSON.parse(readFileSync(path.join(ROOT, "package-lock.json"), "utf8"));
const about = {
  name: NAME,
  version,
  description,
  license,
  type: "module",
  engines,
  bin: { imprint: "packages/cli/bin/imprint.mjs" },
  files: [...HELD, SBOM],
  dependencies: Object.fromEntries(NEEDED.map((name) => [name, packages[`node_modules/${name}`].version])),
};
const write = (name, content) => writeFileSync(path.join(folder, name), `${JSON.stringify(content, null, 2)}\n`);
write("package.json", about);
// What it is made of, as CycloneDX: what bundles hold or need, and what the set-up installs for the trainer.
const component = (kind, name, pin) => ({
  type: "library",
  name,
  version: pin,
  purl: `pkg:${kind}/${name.replace("@", "%40")}@${pin}`,
});
const node = Object.entries(packages)
  .filter(([place, { dev, link }]) => place.includes("node_modules/") && !dev && !link)
  .map(([place, entry]) => component("npm", place.split("node_modules/").at(-1), entry.version));
const pins = readFileSync(path.join(ROOT, "trainer", "requirements.lock"), "utf8").matchAll(/^([\w.-]+)==([^\s;]+)/gm);
const python = Array.from(pins, ([, name, pin]) => component("pypi", name, pin));
const metadata = { component: { type: "application", name: NAME, version, licenses: [{ license: { id: license } }] } };
write(SBOM, { bomFormat: "CycloneDX", specVersion: "1.5", version: 1, metadata, components: [...node, ...python] });
const [destination = ROOT] = process.argv.slice(2);
mkdirSync(destination, { recursive: true });
const [command, ...before] = npmCommand({ env: process.env });
const packed = await run(command, [...before, "pack", "--json", "--pack-destination", path.resolve(destination)], {
  cwd: folder,
  name: "npm pack",
});
const [{ filename, size, unpackedSize }] = JSON.parse(packed.stdout);
const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
console.log(
  `${path.join(path.relative(process.cwd(), path.resolve(destination)), filename)}: ${mb(size)}, unpacked ${mb(unpackedSize)}`,
);
