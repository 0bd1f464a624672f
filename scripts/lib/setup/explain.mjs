import { CommandFailure, SetupFailure } from "../process/failures.mjs";

const NETWORK =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError|Failed to establish a new connection|Max retries exceeded|error sending request|dns error|tcp connect error|[Nn]etwork (?:is unreachable|connectivity)|\(from versions: none\)|Could not connect|Connection (?:refused|reset|timed out)/;
const CERTIFICATE =
  /CERTIFICATE_VERIFY_FAILED|invalid peer certificate|UnknownIssuer|SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER|VERIFY)|SSLCertVerificationError/;
const DISK = /ENOSPC|No space left on device|not enough space/i;
const HASH = /EINTEGRITY|DO NOT MATCH THE HASHES|Hash mismatch/i;
const STALE_LOCK = /package\.json and package-lock\.json .* are in sync/;
const NO_WHEEL =
  /No matching distribution|no wheels? with a matching|No solution found|doesn't have a (?:source distribution or )?wheel for/i;

const SETTINGS = {
  npm: "npm reads its registry, proxy and certificate from .npmrc (npm config list)",
  pip: "pip reads its index, proxy and certificate from pip.conf or PIP_* (pip config list)",
  uv: "uv reads its index, proxy and certificate from uv.toml or UV_* and is given pip's where those are not set",
};

/** The sentence for a package client that failed; `tool` is npm, pip or uv, `doing` what it was asked to do. */
export function explain({ tool, doing, output }) {
  if (DISK.test(output))
    return `The disk filled up while ${doing}. Free some space or set IMPRINT_CACHE_DIR, then run this again.`;
  if (HASH.test(output))
    return `A downloaded file does not have the hash in the lock file (${doing}). Nothing of it was kept; do not ignore this.`;
  if (CERTIFICATE.test(output)) return `The registry's certificate is not trusted (${doing}). ${SETTINGS[tool]}.`;
  if (NETWORK.test(output)) return `No package registry can be reached (${doing}). Check the network; ${SETTINGS[tool]}.`;
  if (STALE_LOCK.test(output))
    return "package-lock.json does not match the package.json files. Run npm install and commit the lock file.";
  if (NO_WHEEL.test(output)) return `The registry has no build of a package for this platform or Python (${doing}).`;
  return `${doing[0].toUpperCase()}${doing.slice(1)} failed.`;
}

/** Runs `work`; a package client that failed becomes a sentence, its output kept beside it. */
export const explaining = ({ tool, doing }, work) => failingAs((error) => explain({ tool, doing, output: error.output }), work);

/** Runs `work`; a program that failed becomes the sentence that `sentenceOf` makes of it. */
export async function failingAs(sentenceOf, work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    throw new SetupFailure(sentenceOf(error), { output: `${error.message}\n${error.output}` });
  }
}
