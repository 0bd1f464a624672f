import { secretAt, secretOf } from "./expressions.js";
import type { Finder, Hit } from "./hit.js";
import { wordVisitor } from "./triples.js";
import { isCredential } from "./values.js";

const TELLING =
  /authorization|bearer|cookie|\b(?:JSESSIONID|PHPSESSID|_gitlab_session|_session_id|connect\.sid)\b|\s-b |\/\/hooks?[.-]|\/(?:reset|invit|verif|confirm|activat|magic|unsubscribe)[\w-]{0,30}\/|[?&;#](?:sig|signature|x-amz-signature|key|code|appid|ticket|session|sid|auth|invite|magic)=|\t(?:TRUE|FALSE)\t/iy;

const QUERIED = "sig x-a key cod app tic ses sid aut inv mag".split(" ");
const visitTelling = wordVisitor([
  ..."aut bea coo jse php _gi _se con //h /re /in /ve /co /ac /ma /un \ttr \tfa".split(" "),
  ...["\n-b", " -b", "\t-b"],
  ...QUERIED.flatMap((word) => ["?", "&", ";", "#"].map((sign) => sign + word)),
]);

const AUTHORIZATION =
  /authorization["'`\]]{0,3}(?:[ \t]*[:=,][ \t]*|[ \t]+)["'`]?[ \t]*(?:(?:basic|bearer|token|bot|apikey|api-key|key|negotiate|digest|splunk|sso-key|geniekey|ssws|oauth|pvetoken=|discogs)[ \t]+)?(?<secret>[^\s"'`,;<>]{8,4000})/diy;
const BEARER = /bearer[ \t]+(?<secret>[A-Za-z0-9+/_=.~-]{12,4000})/diy;
const DIGEST = /authorization["']?[ \t]*:[ \t]*digest[^\n]{0,400}?response="(?<secret>[a-f0-9]{32,128})"/diy;
/** The cookies of a header, of an option `-b`, of a browser's storage. */
const COOKIES = /(?:set-)?cookies?["'`\]]{0,3}[ \t]*[:=,(][ \t]*["'`]?(?<secret>[^\n"'`]{8,8000})/diy;
const COOKIE =
  /(?:^|[;,]\s*)(?!(?:path|domain|expires|max-age|samesite|secure|httponly|priority)\b)[^=;\s]{1,100}=(?<secret>[^;,\s]{8,4096})/dgi;
const SESSION =
  /(?:JSESSIONID|PHPSESSID|_gitlab_session|_session_id|connect\.sid)["']?[=:][ \t]*["']?(?<secret>[A-Za-z0-9._-]{16,200})/diy;
const SIGNED = /[?&;#][a-z-]{3,20}=(?<secret>[A-Za-z0-9%+/_=.-]{20,400})/diy;
/** Links that let in whoever has them, and addresses of hooks. */
const LINK = /\/(?:reset|invit|verif|confirm|activat|magic|unsubscribe)[\w-]{0,30}\/(?<secret>[A-Za-z0-9_.=-]{20,400})/diy;
const HOOK = /\/\/hooks?[.-][^\s"'<>]{1,200}\/(?<secret>[A-Za-z0-9_-]{20,200})(?![A-Za-z0-9_/-])/diy;
const CURL_COOKIES = /\s-b [ ]?["']?(?<secret>[^\n"'`]{8,8000})/diy;
/** A line of a cookie file of curl and wget. */
const JAR = /\t(?:TRUE|FALSE)\t\d+\t[^\t\n]{1,100}\t(?<secret>[^\t\n]{8,4096})/diy;

const isEncodedLogin = (value: string): boolean =>
  /^[A-Za-z0-9+/]{8,}={0,2}$/.test(value) && /^[\x20-\x7e]+:[\x20-\x7e]+$/.test(Buffer.from(value, "base64").toString("latin1"));

function cookies(text: string, start: number, end: number): Hit[] {
  return [...text.slice(start, end).matchAll(COOKIE)].flatMap((match) => {
    const [from, to] = secretOf(match) ?? [0, 0];
    return isCredential(text.slice(start + from, start + to)) ? [{ start: start + from, end: start + to, kind: "cookie" }] : [];
  });
}

/** What requests carry: `Authorization` of any scheme, cookies, signatures of addresses. */
export const findHeaders: Finder = (scan) => {
  const { text } = scan;
  const hits: Hit[] = [];
  const add = (kind: string, found: readonly [number, number] | undefined, isOne: (value: string) => boolean): boolean => {
    if (found === undefined || !isOne(text.slice(...found))) return false;
    hits.push({ start: found[0], end: found[1], kind });
    return true;
  };
  const isLong = (value: string): boolean => isCredential(value, 12);
  visitTelling(scan, (index) => {
    TELLING.lastIndex = index;
    if (!TELLING.test(text)) return;
    const first = text[index]?.toLowerCase();
    if (first === "a") {
      if (add("authorization", secretAt(DIGEST, text, index), () => true)) return;
      add("authorization", secretAt(AUTHORIZATION, text, index), (value) => isEncodedLogin(value) || isLong(value));
    } else if (first === "b") add("authorization", secretAt(BEARER, text, index), isLong);
    else if (first === "/") {
      add("secret", secretAt(LINK, text, index), isCredential);
      add("webhook", secretAt(HOOK, text, index), isCredential);
    } else if (first === "c" || /^\s-b/.test(text.slice(index, index + 3))) {
      const header = secretAt(COOKIES, text, index) ?? secretAt(CURL_COOKIES, text, index);
      if (header !== undefined) hits.push(...cookies(text, ...header));
    } else if (first === "\t") add("cookie", secretAt(JAR, text, index), isCredential);
    else if (!/[?&;#]/.test(first ?? "")) add("cookie", secretAt(SESSION, text, index), isCredential);
    else add("secret", secretAt(SIGNED, text, index), (value) => isCredential(value, 20));
  });
  return hits;
};
