import { ConfigError } from "./errors.js";
import type { Settings } from "./schema.js";
import { readSecretFile } from "./secret-file.js";

/** A cluster that jobs run on. */
export interface Ray {
  readonly address: string;
  readonly token: string | null;
  /** Folder that both sides see. */
  readonly storage: string;
}

const tokenOf = ({ ray_token, ray_token_file }: Settings): string | null => {
  if (ray_token !== null && ray_token_file !== null) throw new ConfigError(["ray_token and ray_token_file exclude each other"]);
  if (ray_token_file === null) return ray_token;
  const token = readSecretFile("ray_token_file", ray_token_file);
  if (!/^[!-~]{1,4096}$/.test(token)) throw new ConfigError(["ray_token_file must hold one token without spaces"]);
  return token;
};

/**
 * The cluster of the settings; null when jobs run on this machine.
 * @throws ConfigError when its address or the storage is missing or of no use
 */
export const resolveRay = (settings: Settings): Ray | null => {
  const { runner, ray_address, storage, adopt } = settings;
  if (runner !== "ray") {
    if (adopt) throw new ConfigError(["adopt needs runner ray: jobs of this machine end with the service"]);
    return null;
  }
  if (ray_address === null) throw new ConfigError(["runner ray needs ray_address, such as http://head:8265"]);
  if (storage === null)
    throw new ConfigError(["runner ray needs storage: a folder that this machine and the cluster's nodes see"]);
  const url = URL.canParse(ray_address) ? new URL(ray_address) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "")
    throw new ConfigError(["ray_address must be an http or https address without a user"]);
  return { address: url.href, token: tokenOf(settings), storage };
};
