import { GUTTER } from "./expressions.js";
import type { Finder, Hit } from "./hit.js";
import { OF_DIGIT, OF_WORD, visitRuns } from "./runs.js";
import { IDS } from "./token-shapes.js";
import { HEX, isRandom, isUnspoken, UUID } from "./words.js";

const SHORTEST = 16;
const LONGEST = 200;
/** As long must be what is no argument of a client: short ones are names that machines give. */
const SHORTEST_NAMED = 20;
const SHORTEST_OF_ONE_CASE = 24;
const FEWEST_DIGITS_OF_ONE_CASE = 3;
const LOOK_BACK = 160;

/** Drawn by chance, but no secret: numbers of objects, hashes, addresses, names of files. */
const PUBLIC =
  /(?:^|[^a-z])(?:ids?|uuid|guid|hash(?:es)?|sha\d*|md5|digest|checksum|sum|integrity|commit|rev|revision|ref|etag|nonce|fingerprint|thumbprint|public|pub|publishable|anon|cid|address|addr|account|contract|tx|txid|block|url|uri|href|src|path|file|filename|dir|folder|name|slug|version|tag|branch|build|trace|span|request|correlation|image|img|bucket|region|video|playlist|channel|cursor|page|next|after|before|offset|cache|chunk|class|style|data|content|body|text|title|label|signature|sig|seed|salt|expected|actual|snapshot|primary|foreign|sort|type|count|format|pattern|charset|alphabet|encoded|decoded|base64|payload|host|project|org|user|object|entry|node|item|element|react|query|state|session|partition|row|idempotency|dedup|routing|shard|group|map|lookup|continuation|sync|resume|paging|pagination|hostname|pod|container|instance|machine|invocation)(?:[^a-z]|$)/i;
const isPublic = (name: string): boolean => PUBLIC.test(name.replaceAll(/([a-z\d])([A-Z])/g, "$1_$2"));

/** `NAME=…` of an environment, and what is called `key`. */
const SETTING =
  /(?:^|[\s"'`;:])(?<name>[A-Z][A-Z0-9_]{1,60}|[\w-]*(?:key|auth|licen[cs]e))["'`]?[ \t]*(?:=>|:=|[:=])[ \t]*["'`]?$/;
/** What a list of a page is told apart by. */
const OF_ELEMENT = /<[A-Za-z][\w.]*(?:\s[^<>]*)?\skey=[{"'`]*$/;
/** `NAME="reader:…"`. */
const LOGIN = /(?:^|[\s"'`;])(?<name>[A-Z][A-Z0-9_]{2,60})["'`]?[ \t]*[:=][ \t]*["'`]?(?<login>[\w.@-]{1,40}):$/;
/** An argument of what makes a client, opens a connection, signs in. */
const CALL =
  /(?<name>\bnew\s+[\w.:]{1,60}|\b[\w.:]{0,60}(?:Client|A[Pp][Ii]|S[Dd][Kk]|Session|Connection|Provider|Bot)|\b\w+(?:\.|::|->)(?:[Nn]ew\w{0,20}|init|initialize|configure|connect|login|authenticate|auth|setup|set\w{1,30}|with\w{1,20})|\brequire\(["'][\w@/.-]{1,60}["']\))\(\s*["'`]$/;
/** Among them those that take nothing but a secret. */
const OF_CLIENT = /^require|(?:Client|A[Pp][Ii]|S[Dd][Kk]|(?:\.|::)New)$/;
const SHORTEST_HEX = 32;
/** What a log says of it. */
const KEY_OF_CLIENT = /\b(?:client|auth\w*|log(?:ged )?in|connect\w*|sign(?:ed )?in)\b[\w ,:]{0,60}\bkey[ ]?[=:][ ]?["'`]?$/i;
/** Calls whose argument is always a number of an object, a hash, an address. */
const OF_PUBLIC =
  /hash|sha\d|md5|digest|uuid|guid|objectid|address|publickey|error|regexp|buffer|date|attribute|item|setstate|(?:id|ref|path|ur[il]|name|file|event|node|image|colou?r|tag|block|tx|transaction|version|commit|cursor)$/i;
const OPTION = /\s(?<name>-[tkpasx]|--[a-z][a-z-]{1,30})(?:[ =]|[ =]?["'])$/i;
/** A sentence that speaks of a secret. */
const SPOKEN = /(?<name>(?:\b\w+ )?\b(?:key|token|secret|credential|password)s?\b[\w ,.'’:(`"*-]{0,70})$/i;
const ALONE = new RegExp(`(?<name>(?:[^\\s:=]+[ ]){2,20}[^\\s:=]+):[ \\t]*\\n(?:${GUTTER}\\n)?${GUTTER}["'\`]?$`);

const NAMED = [SETTING, OPTION, SPOKEN];

/** A sentence that hands something over to be signed in with. */
const OF_USE = /\b(?:us(?:e|ing)|keys?|tokens?|secrets?|passwords?|credentials?|auth\w*|api|log ?in|sign in|accounts?)\b/i;
/** Public keys, addresses and contents that show what they are. */
const PUBLIC_FORM = /^(?:[tuvxyz]pub|npub1|age1|bc1|ltc1|addr1|bafy|ssh-)/;

/** What follows a value: nothing of a path, an address, a longer text of base64. */
const CLOSED = /^={0,2}(?:["'`)\]},;<&|]|\.?(?:\s|$))/;
const OPENED = /[\s"'`(>=:,|]$/;

/** Capitals among small letters. */
const MIXED = /[a-z].*[A-Z]|[A-Z].*[a-z]/;
/** What services put before a hexadecimal secret. */
const MARKED_HEX = /^[a-z]{2,16}_[0-9a-f]{32,128}$/;

/** Whether nothing but chance writes so: letters and digits without words, capitals among them or many. */
function isDrawn(value: string): boolean {
  if (IDS.test(value) || PUBLIC_FORM.test(value)) return false;
  if (MARKED_HEX.test(value)) return true;
  if (/[-_][0-9a-f]{32,}$/.test(value)) return false;
  if (HEX.test(value) || UUID.test(value) || !isUnspoken(value)) return false;
  if (MIXED.test(value)) return true;
  const digits = value.match(/\d/g)?.length ?? 0;
  return value.length >= SHORTEST_OF_ONE_CASE && digits >= FEWEST_DIGITS_OF_ONE_CASE && /^[a-z0-9]+$|^[A-Z0-9]+$/.test(value);
}

/** Whether a client is made with a value: then it may be of any writing. */
function isForClient(line: string, value: string): boolean {
  const called = CALL.exec(line)?.groups?.name;
  if (called === undefined || OF_PUBLIC.test(called)) return false;
  if (isDrawn(value)) return true;
  return OF_CLIENT.test(called) && (HEX.test(value) ? value.length >= SHORTEST_HEX : isRandom(value));
}

/** Whether what stands before a value calls for a secret. */
function isAwaited(before: string, value: string, isLineEnd: boolean): boolean {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (isForClient(line, value)) return true;
  const login = LOGIN.exec(line)?.groups;
  if (login !== undefined) return isRandom(value) && !isPublic(`${login.name} ${login.login}`);
  if (HEX.test(value)) return value.length >= SHORTEST_HEX && KEY_OF_CLIENT.test(line);
  if (value.length < SHORTEST_NAMED || !isDrawn(value)) return false;
  for (const pattern of NAMED) {
    const name = pattern.exec(line)?.groups?.name;
    if (name !== undefined) return !OF_ELEMENT.test(line) && !isPublic(name) && (MIXED.test(value) || !name.startsWith("--"));
  }
  const sentence = isLineEnd ? ALONE.exec(before)?.groups?.name : undefined;
  return sentence !== undefined && OF_USE.test(sentence) && !isPublic(sentence);
}

/** Values drawn by chance where something is signed in with them: in an environment, as an argument of a client, after a word on keys. */
export const findChance: Finder = (scan) => {
  const { text, bytes } = scan;
  const hits: Hit[] = [];
  const hasDigit = (start: number, end: number): boolean => {
    for (let at = start; at < end; at++) if (OF_DIGIT[bytes[at] ?? 0] === 1) return true;
    return false;
  };
  visitRuns(scan, OF_WORD, SHORTEST, (start, end) => {
    if (end - start > LONGEST || !hasDigit(start, end)) return;
    const after = text.slice(end, end + 4);
    const before = text.slice(Math.max(0, start - LOOK_BACK), start);
    if (!CLOSED.test(after) || !OPENED.test(before)) return;
    if (isAwaited(before, text.slice(start, end), /^["'`]?\s*(?:\n|$)/.test(after))) hits.push({ start, end, kind: "secret" });
  });
  return hits;
};
