/** Letters of one case, words of a camel-case name, digits, and everything else. */
const PARTS = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^A-Za-z0-9]+/g;
const SHORTEST_WORD = 3;

/** The letters that follow a letter in words and names, but for rare ones. */
const FOLLOWERS: Readonly<Record<string, string>> = {
  a: "bcdfgiklmnprstuvwxy",
  b: "abeilorsuy",
  c: "acehiklorstuy",
  d: "adeilorsuydgvw",
  e: "abcdefgilmnopqrstuvwxye",
  f: "aefiloruty",
  g: "aeghilnorsuy",
  h: "aeiortuy",
  i: "abcdefgklmnoprstvxz",
  j: "aeosu",
  k: "aeilnosy",
  l: "abcdefiklmopstuvy",
  m: "abeimnopsuy",
  n: "acdefgiklnorstuvy",
  o: "abcdefgiklmnoprstuvwxy",
  p: "aehiloprstuy",
  q: "u",
  r: "abcdefgiklmnoprstuvwy",
  s: "aceghiklmnopqstuwy",
  t: "acehilmorstuwy",
  u: "abcdefgilmnoprstkxz",
  v: "aeioruy",
  w: "adehilnorsy",
  x: "aceimptuy",
  y: "aeilmnoprst",
  z: "aeiloyz",
};
const ABBREVIATION =
  /^(?:https?|html?|xml|json|url|uri|api|sql|db|id|jwt|css|ssl|tls|ssh|aws|gcp|npm|cdn|dns|ttl|uuid|ctx|cfg|src|pwd|str|num|btn|img|msg|cmd|mgr|svc)$/i;
/** One rare pair of letters is forgiven a word of this length. */
const FORGIVEN_FROM = 6;

function isWord(part: string): boolean {
  if (part.length < SHORTEST_WORD || ABBREVIATION.test(part)) return ABBREVIATION.test(part);
  const word = part.toLowerCase();
  if (!/[aeiouy]/.test(word) || /[^aeiouy]{5}/.test(word)) return false;
  let rare = 0;
  for (let at = 1; at < word.length; at++) if (!FOLLOWERS[word[at - 1] ?? ""]?.includes(word[at] ?? "")) rare++;
  return rare === 0 || (rare === 1 && word.length >= FORGIVEN_FROM);
}

export const HEX = /^(?:0x)?(?:[0-9a-f]{16,}|[0-9A-F]{16,})$/;
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const FEWEST_LETTERS = 3;
/** Digits amid letters twice: no name of code has them. */
const MINGLED = /^(?=.{12}).*[A-Za-z]\d{1,4}[A-Za-z]+\d{1,4}[A-Za-z].*$/;
/** Chance makes words too, but rarely of half the letters. */
const MOST_SPOKEN = 0.5;

/** Whether a text looks drawn by chance rather than written. */
export function isRandom(text: string): boolean {
  if (HEX.test(text)) return /[a-f]/i.test(text) && /\d/.test(text);
  return UUID.test(text) || MINGLED.test(text) || isUnspoken(text);
}

/** Whether most letters of a text stand in no speakable word. */
export function isUnspoken(text: string): boolean {
  let letters = 0;
  let spoken = 0;
  for (const part of text.match(PARTS) ?? []) {
    if (!/[a-z]/i.test(part)) continue;
    letters += part.length;
    if (isWord(part)) spoken += part.length;
  }
  return letters >= FEWEST_LETTERS && spoken <= letters * MOST_SPOKEN;
}

/** The words of a name, in small letters: `awsSecretKey2` and `AWS_SECRET-KEY` alike. */
export const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => (/^[a-z]+\d+$/.test(word) ? word.replace(/\d+$/, "") : word))
    .filter((word) => word !== "");
