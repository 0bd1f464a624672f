import { createHash } from "node:crypto";
import { ALNUM, BASE64, DIGITS, HEX, LOWER, LOWNUM, UPNUM, UPPER, URL_SAFE } from "./draw.mjs";

const WORDS = ["sun", "river", "tiger", "maple", "rocket", "winter", "pepper", "guitar", "falcon", "copper", "violet", "harbor"];
const MORE = ["dog", "lamp", "stone", "moon", "cloud", "bread", "piano", "cactus", "wagon", "amber", "fjord", "zebra"];
const capital = (word) => word[0].toUpperCase() + word.slice(1);

/** Marks what must not survive; `read` in judge.mjs takes the marks out again. */
export const OPEN = "\uE000";
export const CLOSE = "\uE001";
export const hide = (value) => `${OPEN}${value}${CLOSE}`;

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});
function crc32(text) {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
function base62(number, length) {
  const digits = DIGITS + UPPER + LOWER;
  let text = "";
  for (let rest = number; text.length < length; rest = Math.floor(rest / 62)) text = digits[rest % 62] + text;
  return text;
}

/** What people and generators make, by the drawer `d`; nothing guarantees a digit or a capital where no issuer does. */
export function values(d) {
  const t = d.text;
  const b64url = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
  const base64 = (bytes) => Buffer.from(Array.from({ length: bytes }, () => d.below(256))).toString("base64");
  const chosen = () =>
    d.pick([
      () => `${d.pick(WORDS)}${d.pick(MORE)}${t(DIGITS, d.between(2, 4))}`,
      () => `${capital(d.pick(WORDS))}${t(DIGITS, 4)}!`,
      () => `${d.pick(WORDS)}-${d.pick(MORE)}-${d.pick(WORDS)}-${t(DIGITS, 2)}`,
      () => `${d.pick(WORDS)}_${d.pick(MORE)}${d.pick(["!", "#", "@", "*"])}${t(DIGITS, 3)}`,
      () => `${capital(d.pick(WORDS))}${capital(d.pick(MORE))}@${t(DIGITS, 3)}`,
      () => `${t(LOWER, 3)}${t(DIGITS, 3)}${d.pick(MORE)}${d.pick(["$", "%", "+"])}${t(DIGITS, 1)}`,
    ])();
  const made = (low = 12, high = 24) => {
    const length = d.between(low, high);
    return d.pick([
      () => t(ALNUM, length),
      () => t(LOWNUM, length),
      () => t(`${ALNUM}!#%*+-_.`, length - 2) + t(ALNUM, 2),
      () => t(URL_SAFE, length - 1) + t(ALNUM, 1),
    ])();
  };
  const github = (prefix) => {
    const body = t(ALNUM, 30);
    return `${prefix}${body}${base62(crc32(body), 6)}`;
  };
  const jwt = (bits = "HS256") => {
    const head = b64url({ alg: bits, typ: "JWT" });
    const time = 1_700_000_000 + d.below(60_000_000);
    const body = b64url({ sub: t(DIGITS, 10), name: capital(d.pick(WORDS)), iat: time, exp: time + 3600, jti: t(HEX, 16) });
    return `${head}.${body}.${t(URL_SAFE, bits === "RS256" ? 342 : 43)}`;
  };
  const uuid = () => `${t(HEX, 8)}-${t(HEX, 4)}-4${t(HEX, 3)}-${d.pick(["8", "9", "a", "b"])}${t(HEX, 3)}-${t(HEX, 12)}`;
  return {
    ...d,
    chosen,
    made,
    /** Either kind of password. */
    password: () => (d.below(2) === 0 ? chosen() : made()),
    hex: (length) => t(HEX, length),
    alnum: (length) => t(ALNUM, length),
    lownum: (length) => t(LOWNUM, length),
    upnum: (length) => t(UPNUM, length),
    upper: (length) => t(UPPER, length),
    digits: (length) => t(DIGITS, length),
    urlsafe: (length) => t(URL_SAFE, length),
    base64,
    jwt,
    uuid,
    github,
    crc32,
    word: () => d.pick(WORDS),
    other: () => d.pick(MORE),
    awsId: (prefix = "AKIA") => prefix + t(`${UPPER}234567`, 16),
    awsSecret: () => t(BASE64, 40),
    key: (length) => d.pick([() => t(ALNUM, length), () => t(HEX, length), () => t(URL_SAFE, length)])(),
    /** The base64 lines of a key of `bytes` bytes, 64 digits a line. */
    body: (bytes, width = 64) => base64(bytes).match(new RegExp(`.{1,${width}}`, "g")),
    host: () => `${d.pick(["db", "cache", "mq", "api", "files"])}${d.below(9)}.${d.pick(WORDS)}.internal`,
    user: () => d.pick(["app", "deploy", "admin", "svc_web", "reader", "ci"]),
    sha: (length) => createHash("sha256").update(t(HEX, 32)).digest("hex").slice(0, length),
  };
}
