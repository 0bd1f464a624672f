import { join } from "node:path";
import type { Config } from "../config/load.js";
import { dataPaths } from "../storage/paths.js";

/** Folders whose sub-folders are hypernetworks: one's own before those that Imprint ships. */
export const hypernetworkFolders = ({ settings, repoRoot }: Config): readonly [string, string] => [
  dataPaths(settings.data_dir).hypernetworks,
  join(repoRoot, "models"),
];
