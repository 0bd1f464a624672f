import { join } from "node:path";
import { type BaseModels, locateBaseModel } from "../../models/base-model.js";
import type { DataPaths } from "../../storage/paths.js";
import type { Places } from "../reference.js";

interface PlacesOptions {
  readonly paths: DataPaths;
  readonly models: BaseModels;
  /** One's own, then those that Imprint ships. */
  readonly hypernetworks: readonly [own: string, shipped: string];
}

/** Where this machine keeps what tasks refer to. */
export const localPlaces = ({ paths, models, hypernetworks: [own, shipped] }: PlacesOptions): Places => ({
  models: (name) => locateBaseModel(name, models).location,
  adapters: (path) => join(paths.adapters, path),
  staging: (path) => join(paths.staging, path),
  measurements: (path) => join(paths.measurements, path),
  checkpoints: (path) => join(paths.checkpoints, path),
  hypernetworks: (path) => join(own, path),
  "shipped-hypernetworks": (path) => join(shipped, path),
});
