import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { digestFiles, filesBelow } from "./setup/digest.mjs";
import { readStamp, writeStamp } from "./setup/stamp.mjs";

const stampFile = (root) => path.join(root, "packages", "web", "bundle", "built.json");

export const dashboardExists = (root) => existsSync(stampFile(root));

/** What the dashboard is made of, but for the packages that it imports. */
export const dashboardSources = (root) => ["packages/web/index.html", ...filesBelow(root, "packages/web/src", () => true)];

function keyOf(root) {
  const imported = ["contracts", "client"].flatMap((name) =>
    filesBelow(root, `packages/${name}/dist`, (file) => file.endsWith(".js")),
  );
  return digestFiles(root, ["package-lock.json", "scripts/lib/dashboard.mjs", ...dashboardSources(root), ...imported]);
}

/** Builds the dashboard into packages/web/bundle, where the service finds it, unless that is up to date. */
export async function buildDashboard({ root }) {
  const key = keyOf(root);
  if (readStamp(stampFile(root))?.key === key) return;
  // Also below a test runner, which has set another: React's development build is three times the size.
  process.env.NODE_ENV = "production";
  const { build } = await import("vite");
  await build({
    root: path.join(root, "packages", "web"),
    base: "./", // a proxy may serve it under a path
    configFile: false,
    logLevel: "warn",
    build: {
      outDir: "bundle",
      emptyOutDir: true,
      target: "es2022",
      // The page's policy allows no data: URLs.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      license: { fileName: "licenses.md" },
    },
  });
  writeStamp(stampFile(root), { key });
}
