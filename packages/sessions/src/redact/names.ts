import type { Scan } from "./scan.js";
import { wordVisitor } from "./triples.js";
import { wordsOf } from "./words.js";

/** What a value is by the name that it is given to: the kinds differ in what else they may look like. */
export type NameKind = "password" | "secret" | "token" | "key" | "phrase";

const PASSWORD =
  /^(?:pass|pw|pwd|psk|psw|passcode|passwort|kennwort|contrase[nñ]a|wachtwoord|senha)$|(?:password|passwd|passphrase|pword)s?$|^(?:bind|root|user|db|admin)pw$/;
/** `storepass`, but no word of English. */
const FUSED_PASSWORD = /(?<!^by|^com|^encom|^sur|^tres|^over|^under|^im)pass$/;
const PHRASE = /^(?:mnemonic|seedphrase)$/;
const SECRET = /secrets?$/;
const TOKEN = /(?:token|jwt)s?$|^(?:pat|bearer|credentials?|sessid|phpsessid|jsessionid|sessionid|xsrf)$/;
const FUSED_KEY = /(?:api|secret|access|private|auth|account|signing|encrypt(?:ion)?|master|license|shared|storage)key$/;

/** What a found value is called. */
export const hitKind = (kind: NameKind): string => (kind === "password" ? "password" : "secret");

/** What makes a key secret, and what makes it none. */
const OF_SECRET_KEY = new Set(
  (
    "api access auth authorization secret private signing sign encryption encrypt master client account service app application " +
    "session webhook license shared storage admin server deploy consumer subscription ingest sdk bot preshared management user " +
    "rest live test sandbox unseal recovery functions function host ssh tls ssl cookie hmac jwt crypt crypto cipher decryption bearer push rpc"
  ).split(" "),
);
const OF_OTHER_KEY = new Set(
  (
    "public publishable publishing anon primary foreign cache sort partition row idempotency dedup lookup object map hash shift arrow hot short group composite " +
    "unique index registry config meta query translation react memo shard bucket blob event message issue project citation " +
    "main foreign natural surrogate business alternate candidate super dict tree node file path state react list item entity data"
  ).split(" "),
);
/** What makes a token a mark of a grammar or of a page. */
const OF_OTHER_TOKEN = new Set(
  (
    "next page paging pagination continuation cursor sync resume start sort scroll pad eos bos unk sep cls mask special stop end " +
    "cancel cancellation lexer last first prev previous peek per each image vision prompt completion input output"
  ).split(" "),
);
const OF_OTHER_PASS = new Set(
  "render first second one two single multi forward backward by is num test build each next dry".split(" "),
);
/** Words after the telling one that change nothing. */
const AFTER = new Set(
  (
    "value data base b64 base64 string str raw plain plaintext text prod production staging stage dev live test old new current default " +
    "env here hex enc encoded pem main primary secondary prd uat qa local"
  ).split(" "),
);

function classified(name: string): NameKind | null {
  const words = [...wordsOf(name)];
  while (words.length > 1 && (AFTER.has(words.at(-1) ?? "") || /^\d+$/.test(words.at(-1) ?? ""))) words.pop();
  const last = words.at(-1) ?? "";
  const before = words.at(-2) ?? "";
  if (/^(?:old)?pwd$/i.test(name) && name === name.toUpperCase()) return null;
  if (PHRASE.test(last) || (last === "phrase" && /^(?:seed|recovery|secret|backup)$/.test(before)) || last === "seed")
    return "phrase";
  if (PASSWORD.test(last) || FUSED_PASSWORD.test(last)) return OF_OTHER_PASS.has(before) ? null : "password";
  if (last === "hash" && PASSWORD.test(before)) return "token";
  if (SECRET.test(last) || (last === "id" && before === "secret")) return "secret";
  if (last === "id" && before === "key" && words.includes("private")) return "token";
  if (TOKEN.test(last)) return OF_OTHER_TOKEN.has(before) ? null : "token";
  if (last === "auth" && /^_?auth$|_auth$/i.test(name)) return "token";
  if (FUSED_KEY.test(last)) return "key";
  if (last === "salt" && (before === "hash" || /^[A-Z_]+$/.test(name))) return "key";
  if (last !== "key" && last !== "keys") return null;
  if (OF_SECRET_KEY.has(before)) return "key";
  // `STRIPE_KEY` of an environment; in code a key is mostly one of a map.
  return before !== "" && !OF_OTHER_KEY.has(before) && !words.some((word) => word === "public" || word === "publishable")
    ? "key"
    : null;
}

/** Whether `word key`, written as two words, is a secret: `API key`, but not `cache key`. */
export const isOfSecretKey = (word: string): boolean => OF_SECRET_KEY.has(word.toLowerCase());

const known = new Map<string, NameKind | null>();
const MOST_KNOWN = 5000;

/** The kind of secret that a name announces: `DB_PASSWORD`, `clientSecret`, `x-api-key`; null for `cache_key` or `next_token`. */
export function nameKind(name: string): NameKind | null {
  const found = known.get(name);
  if (found !== undefined) return found;
  if (known.size >= MOST_KNOWN) known.clear();
  const kind = classified(name);
  known.set(name, kind);
  return kind;
}

/** What every name of interest holds. */
const TELLING =
  /pass|pwd|psk|psw|pword|\bpw\b|secret|token|jwt|key|seed|mnemonic|phrase|cred|auth\b|bearer|salt|sessi|sessid|xsrf|pat\b|\wpw\b/iy;
const visitTelling = wordVisitor(
  "pas pwd psk psw pwo sec tok jwt key see mne phr cre aut bea sal ses xsr pat rpw dpw npw tpw bpw lpw ppw".split(" "),
);

/** Visits the places where a name of interest may stand; `visit` returns where to go on. */
export function visitNames(scan: Scan, visit: (at: number) => number): void {
  visitTelling(scan, (at) => {
    TELLING.lastIndex = at;
    return TELLING.test(scan.text) ? visit(at) : undefined;
  });
}
