/** Letters of one case, words of a camel-case name, digits, and everything else. */
const PARTS = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^A-Za-z0-9]+/g;
const VOWEL = /[aeiouy]/i;
const UNSPEAKABLE = /[^aeiouy]{5}|[aeiouy]{4}|^[^aeiouy]{4}|[^aeiouhwy]{4}$|[jq][^aeu]|[jqvwxz]{2}|[xz][bcdfgjkmnpqrsvw]|([a-z])\1\1/i;
const SHORTEST_WORD = 3;

const isWord = (part: string): boolean =>
  part.length >= SHORTEST_WORD && VOWEL.test(part) && !UNSPEAKABLE.test(part) && /[^aeiouy]/i.test(part);

const HEX = /^(?:0x)?(?:[0-9a-f]{16,}|[0-9A-F]{16,})$/;
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** From here on chance hardly makes words; below, one part of three may look like one. */
const LONG = 20;

/** Whether a text looks drawn by chance rather than written: most of its letters stand in no speakable word. */
export function isRandom(text: string): boolean {
  if (HEX.test(text)) return /[a-f]/i.test(text) && /\d/.test(text);
  if (UUID.test(text)) return true;
  const parts = text.match(PARTS) ?? [];
  let letters = 0;
  let spoken = 0;
  let digits = 0;
  for (const part of parts) {
    if (/\d/.test(part)) digits++;
    if (!/[a-z]/i.test(part)) continue;
    letters += part.length;
    if (isWord(part)) spoken += part.length;
  }
  if (letters < 3) return false;
  return spoken <= letters * (text.length >= LONG && digits >= 2 ? 0.6 : 0.45);
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
