import { chmodSync, existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { digestFiles, filesBelow } from "./setup/digest.mjs";
import { readStamp, writeStamp } from "./setup/stamp.mjs";

/** Left as it is: it loads a native library from beside itself. */
const EXTERNAL = ["libsql"];

/** The packages with a program: each `dist/main.js` is bundled into `bundle/main.js`. */
const programsOf = (root) =>
  readdirSync(path.join(root, "packages")).filter((name) => existsSync(path.join(root, "packages", name, "src", "main.ts")));

const folderOf = (root, name) => path.join(root, "packages", name, "bundle");
const stampFile = (root, name) => path.join(folderOf(root, name), "built.json");

export const bundlesExist = (root) => programsOf(root).every((name) => existsSync(stampFile(root, name)));

/** Changes with what any package's compiler wrote, the versions of the dependencies, or this file. */
function bundleKey(root) {
  const packages = readdirSync(path.join(root, "packages")).filter((name) =>
    existsSync(path.join(root, "packages", name, "dist")),
  );
  const compiled = packages.flatMap((name) => filesBelow(root, `packages/${name}/dist`, (file) => file.endsWith(".js")));
  const scripts = ["demo", "setup", "process"].flatMap((name) => filesBelow(root, `scripts/lib/${name}`, () => true));
  return digestFiles(root, ["package-lock.json", "scripts/lib/bundle.mjs", ...scripts, ...compiled]);
}

/** Bundles every program whose bundle is not up to date: resolving a thousand modules takes longer than all else at start. */
export async function bundle({ root }) {
  const key = bundleKey(root);
  const stale = programsOf(root).filter((name) => readStamp(stampFile(root, name))?.key !== key);
  if (stale.length === 0) return;
  const { build } = await import("rolldown");
  for (const name of stale) {
    const input = {
      main: path.join(root, "packages", name, "dist", "main.js"),
      // Started by its path from beside the code that is bundled with it.
      "llama-process": path.join(root, "packages", "server", "dist", "chat", "llama-cpp", "llama-process.js"),
      "store-process": path.join(root, "packages", "server", "dist", "sessions", "store-process.js"),
      ...(name === "cli" && { demo: path.join(root, "scripts", "lib", "demo", "story.mjs") }),
    };
    const output = {
      dir: folderOf(root, name),
      format: "esm",
      cleanDir: true,
      entryFileNames: "[name].js",
      chunkFileNames: "[name]-[hash].js",
    };
    await build({ input, platform: "node", external: EXTERNAL, output, logLevel: "warn" });
    chmodSync(path.join(output.dir, "main.js"), 0o755);
    writeStamp(stampFile(root, name), { key });
  }
}
