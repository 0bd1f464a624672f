import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the clone, or of the installed package: three above this file, and above a bundle that holds it. */
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/[/\\]$/, "");

/** Whether `root` is an installed package, which has its npm packages beside it and was built before. */
export const isInstalled = (root = ROOT) => !existsSync(path.join(root, "package-lock.json"));
