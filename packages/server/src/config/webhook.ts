import { ConfigError } from "../common/error.js";
import type { Settings } from "./schema.js";
import { isLoopback, readSecretFile } from "./secrets.js";

/** Where the ends of jobs are posted, and the key that signs them. */
export interface Webhook {
  readonly url: string;
  readonly key: Buffer;
}

/** As Standard Webhooks writes secrets: a prefix, and 24 to 64 bytes in base64. */
const SECRET = /^whsec_([A-Za-z0-9+/]{32,86}={0,2})$/;

const keyOf = ({ webhook_secret_file }: Settings): Buffer => {
  if (webhook_secret_file === null) throw new ConfigError(["webhook_url needs webhook_secret_file, which signs what is sent"]);
  const secret = readSecretFile("webhook_secret_file", webhook_secret_file);
  const [, encoded = ""] = SECRET.exec(secret) ?? [];
  if (encoded === "")
    throw new ConfigError([
      "the webhook's secret must be whsec_ and 24 to 64 bytes in base64: openssl rand -base64 32 makes them",
    ]);
  return Buffer.from(encoded, "base64");
};

/**
 * The webhook of the settings; null when there is none.
 * @throws ConfigError when its host is neither loopback nor one of webhook_hosts, or its secret is missing or weak
 */
export const resolveWebhook = (settings: Settings): Webhook | null => {
  if (settings.webhook_url === null) return null;
  const url = URL.canParse(settings.webhook_url) ? new URL(settings.webhook_url) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "")
    throw new ConfigError(["webhook_url must be an http or https address without a user"]);
  const allowed = isLoopback(url.hostname) || settings.webhook_hosts.some((host) => host === url.host || host === url.hostname);
  if (!allowed)
    throw new ConfigError([`webhook_url leads to ${url.host}, which is not this machine: name it in webhook_hosts to allow it`]);
  return { url: url.href, key: keyOf(settings) };
};
