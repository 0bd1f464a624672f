import { createHash } from "node:crypto";
import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { ALNUM, BASE64, DIGITS, HEX, LOWER, LOWNUM, UPNUM, UPPER, URL_SAFE } from "../draw.mjs";

const ALPHABETS = {
  d: DIGITS,
  x: HEX,
  X: HEX.toUpperCase(),
  a: LOWER,
  A: UPPER,
  l: LOWNUM,
  U: UPNUM,
  w: ALNUM,
  u: URL_SAFE,
  b: BASE64,
};
const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const sha256 = (bytes) => createHash("sha256").update(bytes).digest();

/** A token of a shape: in `<w20>` a letter says the alphabet, the number how many characters. */
export const shaped = (d, shape) => shape.replaceAll(/<(\w)(\d+)>/g, (_, name, count) => d.text(ALPHABETS[name], Number(count)));

function base58(bytes) {
  let number = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (; number > 0n; number /= 58n) text = BASE58[Number(number % 58n)] + text;
  return "1".repeat(bytes.findIndex((byte) => byte !== 0)) + text;
}
const checked = (bytes) => base58(Buffer.concat([bytes, sha256(sha256(bytes)).subarray(0, 4)]));

/** What wallets, nodes and people who write passwords make, beside what `values` of the corpus draws. */
export function moreValues(d) {
  const bytes = (count) => Buffer.from(Array.from({ length: count }, () => d.below(256)));
  const words = [
    "tiger",
    "river",
    "maple",
    "silver",
    "garden",
    "rocket",
    "monday",
    "orange",
    "castle",
    "planet",
    "coffee",
    "winter",
  ];
  const word = () => d.pick(words);
  return {
    bytes,
    lower: (count) => d.text(LOWER, count),
    base58: (count) => base58(Buffer.concat([Buffer.from([1]), bytes(count - 1)])),
    /** A private key as wallets export it: version, key, mark of a compressed public key, checksum. */
    wif: (version, isCompressed) =>
      checked(Buffer.concat([Buffer.from([version]), bytes(32), ...(isCompressed ? [Buffer.from([1])] : [])])),
    /** A public address: the same writing, but no secret. */
    address: () => checked(Buffer.concat([Buffer.from([0]), bytes(20)])),
    extended: (version) => checked(Buffer.concat([Buffer.from(version, "hex"), bytes(41), Buffer.from([0]), bytes(32)])),
    mnemonic: (count) => entropyToMnemonic(bytes((count / 3) * 4), wordlist),
    /** Words of a language and a digit or two, as people choose passwords that they can say. */
    spoken: () =>
      d.pick([
        () => `${word()}-${word()}-${word()}-${d.between(1, 9)}`,
        () => `${word()}${word()}${d.between(1, 9)}`,
        () => `${word()}_${word()}_${d.between(10, 99)}`,
        () => `${word()}.${word()}.${d.between(1, 9)}`,
      ])(),
    /** A password that an address needs no escape for, but whose signs divide addresses. */
    signed: () => `${word()}@${d.text(LOWNUM, 4)}${d.pick(["@", "#", "!"])}${d.between(10, 99)}`,
  };
}
