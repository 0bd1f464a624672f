import { ConfigError } from "../common/error.js";
import { isStoreUrl } from "./paths.js";
import type { Settings } from "./schema.js";
import { readSecretFile } from "./secrets.js";

/** A folder that both sides see, or a bucket. `onNodes`: the folder, or that of a node's copies. */
export type RayStorage =
  | { readonly type: "folder"; readonly onNodes: string }
  | { readonly type: "s3"; readonly url: string; readonly onNodes: string };

/** A cluster that jobs run on. */
export interface Ray {
  readonly address: string;
  readonly token: string | null;
  readonly storage: RayStorage;
}

const tokenOf = ({ ray_token_file }: Settings): string | null => {
  if (ray_token_file === null) return null;
  const token = readSecretFile("ray_token_file", ray_token_file);
  if (!/^[!-~]{1,4096}$/.test(token)) throw new ConfigError(["ray_token_file must hold one token without spaces"]);
  return token;
};

const isPlainHttp = (address: string): boolean => {
  const url = URL.canParse(address) ? new URL(address) : null;
  return url !== null && ["http:", "https:"].includes(url.protocol) && url.username === "" && url.password === "";
};

const storageOf = ({ storage, ray_scratch: onNodes }: Settings): RayStorage => {
  if (storage === null)
    throw new ConfigError([
      "runner ray needs storage: a folder that this machine and the cluster's nodes see, or s3://bucket/prefix",
    ]);
  if (!isStoreUrl(storage)) return { type: "folder", onNodes: storage };
  if (!/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/(?!\.\.?(\/|$))[A-Za-z0-9!_.*'()-]+)*\/?$/.test(storage))
    throw new ConfigError(["storage must be a folder, or s3://bucket/prefix with a prefix of letters, digits and !-_.*'()"]);
  return { type: "s3", url: storage, onNodes };
};

/**
 * The cluster of the settings; null when jobs run on this machine.
 * @throws ConfigError when its address or the storage is missing or of no use
 */
export const resolveRay = (settings: Settings): Ray | null => {
  const { runner, ray_address, adopt } = settings;
  if (runner !== "ray") {
    if (adopt) throw new ConfigError(["adopt needs runner ray: jobs of this machine end with the service"]);
    return null;
  }
  if (ray_address === null) throw new ConfigError(["runner ray needs ray_address, such as http://head:8265"]);
  const storage = storageOf(settings);
  if (!isPlainHttp(ray_address)) throw new ConfigError(["ray_address must be an http or https address without a user"]);
  return { address: new URL(ray_address).href, token: tokenOf(settings), storage };
};
