import { hide as s } from "../values.mjs";

/** Where a token of an issuer stands; the shape alone must do, so the name around it changes from draw to draw. */
export const around = (v, secret, name) =>
  v.pick([
    () => s(secret),
    () => `${name}=${s(secret)}`,
    () => `export ${name}="${s(secret)}"`,
    () => `the one for staging is ${s(secret)}, please use it`,
    () => `"${name.toLowerCase()}": "${s(secret)}",`,
    () => `${name.toLowerCase()}: ${s(secret)}`,
    () => `client = Client("${s(secret)}")`,
    () => `  -> using ${s(secret)} (from cache)`,
  ])();
