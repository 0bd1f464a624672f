import type { Finder, Hit } from "./hit.js";
import { isSecret } from "./values.js";

const WORD = "[\"']?(?<secret>(?!\\$[A-Za-z_({]|pass:|env:|file:|-{1,2}[a-z])[^\\s\"'`<>(){}|;&]{4,200})[\"']?(?=[\\s;|&)\"'`]|$)";
const ANY = "[^\\n|;&]{0,300}?";

/** Commands that take a password or token, by the word that they are found by. */
const COMMANDS: readonly (readonly [word: string, pattern: string])[] = [
  ["mysql", `(?:dump|admin|import|sh)?\\b${ANY}\\s-p(?!rotocol|ort|lugin)${WORD}`],
  ["mariadb", `[a-z-]*\\b${ANY}\\s-p(?!rotocol|ort|lugin)${WORD}`],
  ["sshpass", `${ANY}\\s-p[ ]?${WORD}`],
  [" login", `\\b${ANY}\\s(?:-p|--password)[ =]${WORD}`],
  ["curl", `\\b[^\\n|]{0,600}?\\s(?:-[a-zA-Z]*u|--user|--proxy-user)[ =]?["']?[^\\s:"']{1,80}:(?<secret>[^\\s"']{4,200})`],
  ["http", `s?\\b${ANY}\\s(?:-a|--auth)[ =]["']?[^\\s:"']{1,80}:(?<secret>[^\\s"']{4,200})`],
  ["redis-cli", `${ANY}\\s-a[ ]${WORD}`],
  ["mongo", `(?:sh|dump|restore|import|export)?\\b${ANY}\\s-p[ ]?${WORD}`],
  ["sqlcmd", `${ANY}\\s-P[ ]?${WORD}`],
  ["bcp", `\\b${ANY}\\s-P[ ]?${WORD}`],
  ["sqlplus", `${ANY}\\s[\\w.-]{1,60}/(?<secret>[^\\s@"'/]{4,100})@`],
  ["ldap", `(?:search|modify|add|delete|passwd|whoami)\\b${ANY}\\s-w[ ]?${WORD}`],
  ["smbclient", `${ANY}\\s-U[ ]?["']?[^\\s%"']{1,80}%(?<secret>[^\\s"']{4,100})`],
  ["rpcclient", `${ANY}\\s-U[ ]?["']?[^\\s%"']{1,80}%(?<secret>[^\\s"']{4,100})`],
  ["zip", `(?:cloak|info)?\\b${ANY}\\s-P[ ]?${WORD}`],
  ["7z", `[a-z]?\\b${ANY}\\s-p${WORD}`],
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
  ["echo", `[ ](?:-n[ ]|-e[ ])?${WORD}[ ]*\\|[ ]*(?:sudo[ ]+-S|(?:sudo[ ]+)?passwd|[\\w ./-]{1,80}(?:--password-stdin|--stdin|--with-token)|gh[ ]secret|[a-z]+[ ]secret)`],
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
  ["useradd", `\\b${ANY}\\s-p[ ]${WORD}`],
  ["expect", `[^\\n]{0,200}?assword[^\\n]{0,40}\\n?[^\\n]{0,40}send[ ]"(?<secret>[^"\\\\$\\s]{4,100})`],
  ["send \"", `(?<secret>[^"\\\\$\\s]{6,100})(?:\\\\r|\\s)"`],
  ["config set", `[ ]\\S{0,80}(?:token|password|secret|_auth|key)\\S{0,20}[ =]${WORD}`],
  ["configure set", `[ ]\\S{0,80}(?:token|password|secret|key)\\S{0,20}[ ]${WORD}`],
];

/** A name and a password as arguments: `auth=("name", "…")`, `HTTPBasicAuth("name", "…")`, `mysqli_connect("host", "name", "…")`. */
const CALLS =
  /\b(?:(?:basic_?auth|http\w*auth|auth|login|setbasicauth|\w*credentials?|usernamepassword\w*|directoryentry)["']?[ \t]*[=:]?[ \t]*\(\s*["'][^"'\n]{0,100}["']|(?:mysqli?_connect|mysqli|new PDO|createconnection|getconnection)\(\s*["'][^"'\n]{0,200}["']\s*,\s*["'][^"'\n]{0,100}["'])\s*,\s*["'](?<secret>[^"'\n]{4,200})["']/dgi;
/** A name and a password in one: `BASIC_AUTH=name:…`. */
const PAIRED = /(?:AUTH|CREDENTIALS?|USERPASS|LOGIN)["']?[ \t]*[=:][ \t]*["']?[\w.@-]{1,60}:(?<secret>[^\s"'@/:]{6,200})(?=["'\s,;]|$)/dg;

/** `login: name / …`. */
const SLASHED = /\b(?:login|log in|credentials?|creds|user(?:name)?|account)s?\b[^\n:=]{0,20}[:=][ \t]*["'`]?[\w.@-]{2,40}["'`]?[ \t]+\/[ \t]+["'`]?(?<secret>[^\s"'`]{6,200})/dgi;
/** What is decoded in the same line. */
const DECODED = /(?<secret>[A-Za-z0-9+/]{16,4000}={0,2})["']?[ ]*\|[ ]*(?:openssl )?base64[ ]+-{1,2}d/dg;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
const TELLING = new RegExp([...new Set(COMMANDS.map(([word]) => escaped(word)))].join("|"), "gi");
const BY_WORD = new Map<string, RegExp[]>();
for (const [word, pattern] of COMMANDS)
  BY_WORD.set(word, [...(BY_WORD.get(word) ?? []), new RegExp(`${escaped(word)}${pattern}`, "diy")]);

const ARGUMENT = { isQuoted: false, isSetting: true };
/** `.pgpass`: host, port, database, user, password. */
const PGPASS = /(?<![\w.:])[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*.-]{1,64}:[\w*.-]{1,64}:(?<secret>[^\s:"']{6,200})(?=["'\s]|$)/dg;
/** `IDENTIFIED BY 'x'`. */
const SQL = /\bIDENTIFIED\s+(?:WITH\s+\S+\s+)?(?:BY|AS)\s+(?:PASSWORD\s+)?["'](?<secret>[^"'\n]{4,200})["']/dgi;

/** Passwords and tokens on command lines, in SQL and in `.pgpass`. */
export const findCommands: Finder = ({ text }) => {
  const hits: Hit[] = [];
  const add = (found: readonly [number, number] | undefined): void => {
    if (found !== undefined && isSecret(text.slice(...found), "password", ARGUMENT))
      hits.push({ start: found[0], end: found[1], kind: "password" });
  };
  for (const { index, 0: word } of text.matchAll(TELLING))
    for (const pattern of BY_WORD.get(word.toLowerCase()) ?? []) {
      pattern.lastIndex = index;
      add(pattern.exec(text)?.indices?.groups?.secret);
    }
  if (text.includes("base64 -"))
    for (const match of text.matchAll(DECODED)) {
      const [start, end] = match.indices?.groups?.secret ?? [0, 0];
      if (/^[\x09-\x7e]{8,}$/.test(Buffer.from(text.slice(start, end), "base64").toString("latin1"))) hits.push({ start, end, kind: "secret" });
    }
  if (text.includes(":*:") || text.includes(":5432:")) for (const match of text.matchAll(PGPASS)) add(match.indices?.groups?.secret);
  if (/auth|login|log in|cred|user|account|connect|PDO|DirectoryEntry/i.test(text))
    for (const pattern of [CALLS, PAIRED, SLASHED]) for (const match of text.matchAll(pattern)) add(match.indices?.groups?.secret);
  if (/IDENTIFIED/i.test(text)) for (const match of text.matchAll(SQL)) add(match.indices?.groups?.secret);
  return hits;
};
