import { createHash } from "node:crypto";
import { validateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import type { Finder, Hit } from "./hit.js";
import { OF_ALNUM, OF_LETTER, visitRuns } from "./runs.js";
import type { Scan } from "./scan.js";

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const CHECKSUM = 4;
/** Version, 32 bytes of a key and perhaps a mark; version, depth and all else that an extended key has, its key's first byte the 46th. */
const KEY_SIZES = new Set([33, 34]);
const EXTENDED_SIZE = 78;
const EXTENDED_KEY_AT = 45;
const SHORTEST_KEY = 50;
const LONGEST_KEY = 113;

const sha256 = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();

/** What is written in base58 with a checksum; null when the checksum is wrong. */
function base58Checked(text: string): Buffer | null {
  let number = 0n;
  for (const char of text) {
    const digit = BASE58.indexOf(char);
    if (digit < 0) return null;
    number = number * 58n + BigInt(digit);
  }
  const digits = number.toString(16);
  const significant = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
  const bytes = Buffer.concat([Buffer.alloc(/^1*/.exec(text)?.[0].length ?? 0), significant]);
  const content = bytes.subarray(0, -CHECKSUM);
  return sha256(sha256(content)).subarray(0, CHECKSUM).equals(bytes.subarray(-CHECKSUM)) ? content : null;
}

/** Private keys as wallets export them, of any coin. Addresses are shorter, and a public extended key begins otherwise. */
function exportedKeys(scan: Scan): Hit[] {
  const hits: Hit[] = [];
  visitRuns(scan, OF_ALNUM, SHORTEST_KEY, (start, end) => {
    if (end - start > LONGEST_KEY) return;
    const content = base58Checked(scan.text.slice(start, end));
    if (content === null) return;
    const isKey = content.length === EXTENDED_SIZE ? content[EXTENDED_KEY_AT] === 0 : KEY_SIZES.has(content.length);
    if (isKey) hits.push({ start, end, kind: "wallet-key" });
  });
  return hits;
}

const WORDS = new Set(wordlist);
const SHORTEST_WORD = 3;
const LONGEST_WORD = 8;
const FEWEST_WORDS = 12;
/** Numbers, commas, quotes, line ends and what reader tools put between two words. */
const LONGEST_GAP = 24;
const LENGTHS = [12, 15, 18, 21, 24];

interface Word {
  readonly said: string;
  readonly start: number;
  readonly end: number;
}

/** A phrase is divided by one sign, or two where its lines end; the words of code by many. */
const MOST_DIVIDERS = 2;
/** Chance repeats few of 2,048 words; code repeats its names. */
const FEWEST_DIFFERENT = 0.75;

/** Whether some of the words are a phrase: its last one holds a checksum. */
function isPhrase(text: string, words: readonly Word[]): boolean {
  const said = words.map((word) => word.said);
  const dividers = words.slice(1).map(({ start }, at) => text.slice(words[at]?.end, start).replaceAll(/[\s\d]/g, ""));
  if (new Set(dividers).size > MOST_DIVIDERS || new Set(said).size < FEWEST_DIFFERENT * said.length) return false;
  return said.some((_, from) =>
    LENGTHS.some(
      (length) => from + length <= said.length && validateMnemonic(said.slice(from, from + length).join(" "), wordlist),
    ),
  );
}

/** The stretches of words of the list that hold a phrase, among words with nothing but signs between them. */
function* phrasesIn(text: string, start: number, end: number): Generator<Hit> {
  const words: Word[] = [...text.slice(start, end).matchAll(/[a-z]+/gi)].map((match) => ({
    said: match[0].toLowerCase(),
    start: start + match.index,
    end: start + match.index + match[0].length,
  }));
  let from = 0;
  for (let at = 0; at <= words.length; at++) {
    if (WORDS.has(words[at]?.said ?? "")) continue;
    const stretch = words.slice(from, at);
    if (stretch.length >= FEWEST_WORDS && isPhrase(text, stretch))
      yield { start: stretch[0]?.start ?? 0, end: stretch.at(-1)?.end ?? 0, kind: "seed-phrase" };
    from = at + 1;
  }
}

/** Seed phrases of BIP-39, however their words are divided. */
function seedPhrases({ text, bytes }: Scan): Hit[] {
  const hits: Hit[] = [];
  const length = text.length;
  // Where the words that may be of a phrase began and ended, and how many followed one another.
  let first = 0;
  let last = 0;
  let count = 0;
  const finish = (): void => {
    if (count >= FEWEST_WORDS) hits.push(...phrasesIn(text, first, last));
  };
  for (let at = 0; at < length; at++) {
    const start = at;
    while (at < length && OF_LETTER[bytes[at] ?? 0] === 1) at++;
    if (start === at) continue;
    const isOne = at - start >= SHORTEST_WORD && at - start <= LONGEST_WORD;
    if (isOne && start - last <= LONGEST_GAP) count++;
    else {
      finish();
      count = isOne ? 1 : 0;
      first = start;
    }
    last = at;
  }
  finish();
  return hits;
}

/** Keys and seed phrases of wallets, by the checksum that they carry: chance makes none. */
export const findWallets: Finder = (scan) => [...exportedKeys(scan), ...seedPhrases(scan)];
