import { escaped, secretAt } from "./expressions.js";
import type { Finder, Hit } from "./hit.js";
import { wordVisitor } from "./triples.js";
import { ALONE, isSecret } from "./values.js";

const WORD =
  "[\"']?(?<secret>(?!\\$[A-Za-z_({]|pass:|env:|file:|-{1,2}[a-z])[^\\s\"'`<>(){}|;&]{4,200})[\"']?(?=[\\s;|&)\"'`]|$)";
const ANY = "[^\\n|;&]{0,300}?";

/** `auth=("name", "…")`, `HTTPBasicAuth("name", "…")`. */
const NAME_AND_PASSWORD = `\\w{0,20}["']?[ \\t]*[=:]?[ \\t]*\\(\\s*["'][^"'\\n]{0,100}["']\\s*,\\s*["'](?<secret>[^"'\\n]{4,200})["']`;
/** `mysqli_connect("host", "name", "…")`. */
const HOST_NAME_AND_PASSWORD = `\\w{0,20}\\(\\s*["'][^"'\\n]{0,200}["']\\s*,\\s*["'][^"'\\n]{0,100}["']\\s*,\\s*["'](?<secret>[^"'\\n]{4,200})["']`;
/** `Credentials("realm", "host", "name", "…")`. */
const REALM_HOST_NAME_AND_PASSWORD = `\\w{0,20}\\((?:\\s*["'][^"'\\n]{0,100}["']\\s*,){3}\\s*["'](?<secret>[^"'\\n]{4,200})["']`;
/** `BASIC_AUTH=name:…`. */
const IN_ONE = `s?["']?[ \\t]*[=:][ \\t]*["']?[\\w.@-]{1,60}:(?<secret>[^\\s"'@/:]{6,200})(?=["'\\s,;]|$)`;
/** `login: name / …`. */
const SLASHED = `[a-z]{0,8}[^\\n:=]{0,20}[:=][ \\t]*["'\`]?[\\w.@-]{2,40}["'\`]?[ \\t]+/[ \\t]+["'\`]?(?<secret>[^\\s"'\`]{6,200})`;

/** A string of code. */
const LITERAL = `[bru]{0,2}["'](?<secret>[^"'\\n]{12,200})["']`;

/** Commands that take a password or token, by the word that they are found by. */
const COMMANDS: readonly (readonly [word: string, pattern: string])[] = [
  ["mysql", `(?:dump|admin|import|sh)?\\b${ANY}\\s-p(?!rotocol|ort|lugin)${WORD}`],
  ["mariadb", `[a-z-]*\\b${ANY}\\s-p(?!rotocol|ort|lugin)${WORD}`],
  ["sshpass", `${ANY}\\s-p[ ]?${WORD}`],
  [" login", `\\b${ANY}\\s(?:-[ptk]|--password)[ =]${WORD}`],
  ["curl", `\\b[^\\n|]{0,600}?\\s(?:-[a-zA-Z]*u|--user|--proxy-user)[ =]?["']?[^\\s:"']{1,80}:["']?(?<secret>[^\\s"']{4,200})`],
  ["http ", `${ANY}(?:-a|--auth)[ =]["']?[^\\s:"']{1,80}:["']?(?<secret>[^\\s"']{4,200})`],
  ["redis-cli", `${ANY}\\s-a[ ]${WORD}`],
  ["mongo", `(?:sh|dump|restore|import|export)?\\b${ANY}\\s-p[ ]?${WORD}`],
  ["sqlcmd", `${ANY}\\s-P[ ]?${WORD}`],
  ["bcp", `\\b${ANY}\\s-P[ ]?${WORD}`],
  ["sqlplus", `${ANY}\\s[\\w.-]{1,60}/(?<secret>[^\\s@"'/]{4,100})@`],
  ["ldap", `(?:search|modify|add|delete|passwd|whoami)\\b${ANY}\\s-w[ ]?${WORD}`],
  ["smbclient", `${ANY}\\s-U[ ]?["']?[^\\s%"']{1,80}%(?<secret>[^\\s"']{4,100})`],
  ["rpcclient", `${ANY}\\s-U[ ]?["']?[^\\s%"']{1,80}%(?<secret>[^\\s"']{4,100})`],
  ["zip", `(?:cloak|info)?\\b${ANY}\\s-P[ ]?${WORD}`],
  ...["7z ", "7za ", "7zr ", "7zz "].map((word) => [word, `${ANY}\\s-p${WORD}`] as const),
  ["unrar", `\\b${ANY}\\s-h?p${WORD}`],
  ["-pass", `(?:in|out|word|phrase)?[ ]["']?pass:(?<secret>[^\\s"']{4,200})`],
  ["openssl", `\\b${ANY}\\s-(?:k|K|passin|passout)[ ]${WORD}`],
  ["-storepass", `[ ]${WORD}`],
  ["-keypass", `[ ]${WORD}`],
  ["-srcstorepass", `[ ]${WORD}`],
  ["-deststorepass", `[ ]${WORD}`],
  ["ssh-keygen", `${ANY}\\s-[NP][ ]${WORD}`],
  ["htpasswd", `${ANY}\\s-[a-zA-Z]*b[a-zA-Z]*[ ](?:[^\\s-]\\S*[ ]){1,2}${WORD}`],
  ["echo", `[ ](?:-n[ ])?["']?[\\w.-]{1,60}:(?<secret>[^\\s"']{4,200})["']?[ ]*\\|[ ]*(?:sudo[ ]+)?chpasswd`],
  [
    "echo",
    `[ ](?:-n[ ]|-e[ ])?${WORD}[ ]*\\|[ ]*(?:sudo[ ]+-S|(?:sudo[ ]+)?passwd|[\\w ./-]{1,80}(?:--password-stdin|--stdin|--with-token)|gh[ ]secret|[a-z]+[ ]secret)`,
  ],
  ["printf", `[ ]${WORD}[ ]*\\|[ ]*(?:sudo[ ]+-S|[\\w ./-]{1,80}(?:--password-stdin|--stdin|--with-token)|[a-z]+[ ]secret)`],
  ["chpasswd", `[ ]*<<<[ ]*["']?[\\w.-]{1,60}:(?<secret>[^\\s"']{4,200})`],
  [" secret", `s?[ ](?:set|put|create)\\b${ANY}\\s(?:--body|-b|--value|--data)[ =]${WORD}`],
  ["net use", `\\b[^\\n]{0,200}?/user:\\S+[ ]+${WORD}`],
  ["/user:", `\\S+[ ]+(?:/pass:)?${WORD}`],
  ["net user", `[ ]\\S+[ ]${WORD}`],
  ["/pass:", WORD],
  ["psexec", `[^\\n]{0,200}?\\s-p[ ]${WORD}`],
  ["ipmitool", `${ANY}\\s-P[ ]${WORD}`],
  ["freerdp", `${ANY}\\s/p:${WORD}`],
  ["rdesktop", `${ANY}\\s-p[ ]${WORD}`],
  ["winrm", `${ANY}\\s-p[ ]${WORD}`],
  ["lftp", `${ANY}\\s-u[ ]["']?[^\\s,"']{1,80},(?<secret>[^\\s"']{4,100})`],
  ["jdbc:oracle:thin:", `[\\w.]{1,60}/(?<secret>[^\\s@"'/]{4,100})@`],
  ["sonar", `[.\\w-]{0,12}login["']?[ ]?[=:,(][ ]?["']?(?<secret>[a-f0-9]{40})`],
  ["SecureString", `[ (]+["'](?<secret>[^"'\\n]{4,200})["']`],
  ["auth", NAME_AND_PASSWORD],
  ["login", NAME_AND_PASSWORD],
  ["algoliasearch", NAME_AND_PASSWORD],
  ["credential", NAME_AND_PASSWORD],
  ["credential", HOST_NAME_AND_PASSWORD],
  ["credential", REALM_HOST_NAME_AND_PASSWORD],
  ["usernamepassword", NAME_AND_PASSWORD],
  ["directoryentry", NAME_AND_PASSWORD],
  ["connect", HOST_NAME_AND_PASSWORD],
  ["mysqli", HOST_NAME_AND_PASSWORD],
  ["connection", HOST_NAME_AND_PASSWORD],
  ["new pdo", HOST_NAME_AND_PASSWORD],
  ["auth", IN_ONE],
  ["login", IN_ONE],
  ["credential", IN_ONE],
  ["userpass", IN_ONE],
  ["login", SLASHED],
  ["log in", SLASHED],
  ["cred", SLASHED],
  ["user", SLASHED],
  ["account", SLASHED],
  ["user ", `\\S+ (?:on|off)[^\\n]*? >(?<secret>\\S{6,200})`],
  ["auth-pass", `[ ]\\S+[ ]${WORD}`],
  ["http-basic.", `\\S+[ ]\\S+[ ]${WORD}`],
  ["hmac", `\\w{0,20}\\(\\s*["'][\\w-]{2,20}["']\\s*,\\s*${LITERAL}`],
  ["hmac", `(?:\\.new)?\\(\\s*${LITERAL}`],
  ["fernet", `\\(\\s*${LITERAL}`],
  ["aes", `[\\w.]{0,20}\\(\\s*${LITERAL}`],
  ["secretkeyspec", `\\(\\s*${LITERAL}`],
  ["jwt.", `(?:sign|verify|encode|decode)\\([^\\n]{1,200}?,\\s*${LITERAL}`],
  ["useradd", `\\b${ANY}\\s-p[ ]${WORD}`],
  ["expect", `[^\\n]{0,200}?assword[^\\n]{0,40}\\n?[^\\n]{0,40}send[ ]"(?<secret>[^"\\\\$\\s]{4,100})`],
  ['send "', `(?<secret>[^"\\\\$\\s]{6,100})(?:\\\\r|\\s)"`],
  ["config set", `[ ]\\S{0,80}(?:token|password|secret|_auth|key)\\S{0,20}[ =]${WORD}`],
  ["configure set", `[ ]\\S{0,80}(?:token|password|secret|key)\\S{0,20}[ ]${WORD}`],
];

const visitWords = wordVisitor(COMMANDS.map(([word]) => word));
const beginning = (text: string, at: number): string => text.slice(at, at + 3).toLowerCase();
const BY_BEGINNING = new Map<string, RegExp[]>();
for (const [word, pattern] of COMMANDS) {
  const known = BY_BEGINNING.get(beginning(word, 0)) ?? [];
  BY_BEGINNING.set(beginning(word, 0), [...known, new RegExp(`${escaped(word)}${pattern}`, "diy")]);
}

/** Passwords and tokens on command lines and in arguments of calls. */
export const findCommands: Finder = (scan) => {
  const { text } = scan;
  const hits: Hit[] = [];
  const add = (found: readonly [number, number] | undefined): void => {
    if (found !== undefined && isSecret(text.slice(...found), "password", ALONE))
      hits.push({ start: found[0], end: found[1], kind: "password" });
  };
  visitWords(scan, (at) => {
    for (const pattern of BY_BEGINNING.get(beginning(text, at)) ?? []) add(secretAt(pattern, text, at));
  });
  return hits;
};
