import { ConfigError } from "../common/error.js";
import type { Settings } from "./schema.js";
import { readSecretFile } from "./secrets.js";

/** Another server that answers chats. */
export interface Upstream {
  /** Without the `/v1` that clients are told, and without a slash at its end. */
  readonly url: string;
  /** What errors and logs call it. */
  readonly host: string;
  readonly token: string | null;
  /** The folder of this service's adapters as that server sees it; null: as this machine does. */
  readonly adapters: string | null;
}

const tokenOf = ({ upstream_token_file }: Settings): string | null => {
  if (upstream_token_file === null) return null;
  const token = readSecretFile("upstream_token_file", upstream_token_file);
  if (!/^[\x21-\x7e]{1,4096}$/.test(token))
    throw new ConfigError(["upstream_token_file must hold one token: a line of ASCII without spaces"]);
  return token;
};

/**
 * The server of the settings; null when there is none.
 * @throws ConfigError for an address that is none, or a token that cannot be read
 */
export const resolveUpstream = (settings: Settings): Upstream | null => {
  if (settings.upstream === null) return null;
  const url = URL.canParse(settings.upstream) ? new URL(settings.upstream) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "")
    throw new ConfigError([
      "upstream must be an http or https address without a user, such as http://127.0.0.1:8000: its token goes into upstream_token_file",
    ]);
  if (url.search !== "" || url.hash !== "") throw new ConfigError(["upstream must be an address without ? and #"]);
  const path = url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
  return { url: `${url.origin}${path}`, host: url.host, token: tokenOf(settings), adapters: settings.upstream_adapters };
};
