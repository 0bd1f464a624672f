import type { NameKind } from "./names.js";
import { isRandom, UUID } from "./words.js";

/** What stands for a secret and is none: words that say so, repeated or counted characters. */
const STAND_IN =
  /x{4}|X{4}|\*{3}|\.{3}|…|0{6}|12345|abcdef|example|EXAMPLE|placeholder|redacted|REDACTED|<SECRET:|p[a@4]ss?w[o0]r|s[e3]cr[e3]t|change[_-]?me|qwert|letmein|foobar/;
const STAND_IN_WORD =
  /(?<![a-z])(?:your|dummy|sample|todo|fake|mock(?:ed)?|test(?:ing|s)?|example|placeholder|redacted|invalid|wrong|insert|replace|none|null|true|false|undefined|admin|user|default|hidden|masked|unset|missing|empty)(?![a-z])|(?<![A-Za-z0-9])(?:my|some|token|api|dev|key)(?![A-Za-z0-9])/i;
/** The same as a part between signs: chance spells `my` in the middle of digits. */
const STAND_IN_PART = new RegExp(STAND_IN_WORD.source.replaceAll("[a-z])", "[A-Za-z0-9])"), "i");
/** What else stands in a value with such a word: only chance makes a secret of it. */
const FEWEST_BESIDE_STAND_IN = 12;
const isStandIn = (value: string): boolean => {
  if (!STAND_IN.test(value)) return false;
  const rest = value.replace(/^(?:my|your|the|test)?[-_]?s[e3]cr[e3]t[-_:]?/i, "");
  return STAND_IN.test(rest) || rest.length < FEWEST_BESIDE_STAND_IN || !isRandom(rest);
};
/** A variable, an expression of a template, a lookup, a tag. */
const REFERENCE =
  /^\$(?:[A-Z_]+$|[a-z_]+$|\{|\()|^%(?:\w+%|[sd]$|\()|\$\{|\$\(|\{\{|<%|^<.*>$|^\{.*\}$|^\[.*\]$|^\(.*\)$|^[@&][A-Za-z_.]+$|^!(?:Ref|Sub|GetAtt|vault|secret|ENV|reference)\b|process\.env|environ|getenv|^(?:var|local|data|module|self|this|secrets|env|config|settings|request|req|args|props|os|vault|ssm)\.[a-z]/;
const ALGORITHM =
  /sha-?\d|md5|bcrypt|scrypt|argon|base-?(?:32|64)|utf-?8|aes-?\d|[hre]s(?:256|384|512)|ed25519|(?<![a-z])x509|oauth2?|v\d+$/i;
/** A call, an index, a member: what follows a name in code. */
const CODE = /^[\w.$]+\s*[([]|^[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->)[A-Za-z_$][\w$]*)+$|=>|^[a-z]+:\/\//;
const PATH = /^(?:~|\.{0,2}|[A-Za-z]:)[\\/]/;
/** Bare among code, only longer values count. */
const FEWEST_BARE = 12;
const FEWEST_LETTERS = 3;

const shortest: Readonly<Record<NameKind, number>> = { password: 6, secret: 8, token: 10, key: 10, phrase: 20 };
const MNEMONIC = /^[a-z]{3,8}(?:[ ,]+[a-z]{3,8}){11,23}$/;
const FOUR_BY_FOUR = /^[a-z]{4}(?: [a-z]{4}){3}$/;
/** Words of sentences, which a phrase of words drawn by chance does not hold. */
const SENTENCE = /\b(?:a|an|the|your|you|to|is|are|for|of|and|or|not|please|enter|must|with|in|this|that|be)\b/i;
const PHRASE = /^[A-Za-z]{3,12}(?:[ -][A-Za-z0-9]{2,12}){3,11}$/;

/** How sure the place makes it that the value is one: in quotes, in a line of settings, after an option; or bare among code. */
export interface Place {
  readonly isQuoted: boolean;
  /** The whole rest of its line, or an argument: nothing of code can follow. */
  readonly isSetting: boolean;
}

/** An argument, or alone in its line. */
export const ALONE: Place = { isQuoted: false, isSetting: true };

/** Sixty characters of all sorts, as generators of salts write them. */
const NOISE = /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])(?:[\w .,:;/-]*[!@#$%^&*?~`+=(){}[\]|<>]){8}.*$(?<=^.{40,})/;

const isPhrase = (value: string): boolean => MNEMONIC.test(value) || FOUR_BY_FOUR.test(value);

/** Words and a digit or two, or four words, as people choose passwords that they can say. */
const SPOKEN = /^(?=.{8})[A-Za-z]{3,40}(?:[-_.][A-Za-z]{3,20}){0,5}[-_.]?\d{1,4}[!?.]?$|^[a-z]{3,12}(?:-[a-z]{3,12}){3,7}$/;

/** Speakable, but written as a password: digits or signs among at least four letters. */
function isInvented(value: string, isPassword: boolean): boolean {
  if (ALGORITHM.test(value) || STAND_IN_WORD.test(value)) return false;
  if (/^\d{8,32}$/.test(value)) return true;
  if ((value.match(/[a-z]/gi) ?? []).length < FEWEST_LETTERS) return false;
  const digits = (value.match(/\d/g) ?? []).length;
  const isMixed = /[a-z].*[A-Z]|[A-Z].*[a-z]/.test(value);
  return (
    (isPassword && SPOKEN.test(value)) ||
    digits >= 2 ||
    (isMixed && digits > 0 && /\d[A-Za-z]|[-_.]/.test(value)) ||
    (/[!@#$%^&*?~+=]/.test(value) && (digits > 0 || isMixed)) ||
    /[a-z][@#$%^&!][a-z]/i.test(value)
  );
}

/** A value that a log cut short is judged by what is left of it. */
export const CUT = /(?:\.{2,}|…)$/;
/** As much of each end of a long value is judged: a line of many names would be read once for each. */
const JUDGED = 150;
const judged = (said: string): string =>
  (said.length <= 2 * JUDGED ? said : said.slice(0, JUDGED) + said.slice(-JUDGED)).replace(CUT, "");

/** Whether a value that a name calls a secret is one, and not code, a reference or a stand-in. */
export function isSecret(said: string, kind: NameKind, { isQuoted, isSetting }: Place): boolean {
  const value = judged(said);
  if (kind === "phrase") return isPhrase(value);
  if (isQuoted && NOISE.test(value)) return true;
  if (value.length < shortest[kind] || isStandIn(value) || REFERENCE.test(value)) return false;
  if (/\s/.test(value))
    return kind === "password" && (isPhrase(value) || (PHRASE.test(value) && !SENTENCE.test(value) && isQuoted));
  if (UUID.test(value)) return true;
  const random = isRandom(value);
  if (random && (isQuoted || isSetting || value.length >= FEWEST_BARE) && !/^\w+\(.*\)$/.test(value) && !PATH.test(value))
    return value.length >= 24 || !STAND_IN_PART.test(value);
  if (random && PATH.test(value)) return value.length >= 32 && /[+=]|^[A-Za-z0-9/]{40,}$/.test(value);
  const isPassword = kind === "password";
  if (PATH.test(value) || (CODE.test(value) && !(isPassword && isSetting && SPOKEN.test(value)))) return false;
  return (isPassword || kind === "secret") && (isQuoted || isSetting) && isInvented(value, isPassword);
}

/** Whether a value is drawn by chance and long: a secret where only its place speaks for it. */
export function isCredential(said: string, length = 16): boolean {
  const value = judged(said);
  return value.length >= length && !isStandIn(value) && !REFERENCE.test(value) && !CODE.test(value) && isRandom(value);
}
