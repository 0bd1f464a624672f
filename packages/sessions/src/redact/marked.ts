import { GUTTER, secretOf } from "./expressions.js";
import type { Finder, Hit } from "./hit.js";
import type { NameKind } from "./names.js";
import { wordVisitor } from "./triples.js";
import { ALONE, isSecret } from "./values.js";

/** Secrets that a mark in their text announces, wherever it stands. */
interface Marked {
  readonly marks: readonly string[];
  readonly kind: string;
  /** The group `secret` of it, or all of it. */
  readonly pattern: RegExp;
  /** What the value must look like; nothing when the mark says enough. */
  readonly as?: NameKind;
}

/** Base64 of `-----BEGIN … PRIVATE KEY`: those of certificates and public keys begin otherwise. */
const ENCODED_KEYS =
  "BQUklWQVRF BSU0EgUFJJVkFURS BFQyBQUklWQVRF BEU0EgUFJJVkFURS BPUEVOU1NIIFBSSVZBVEUg BFTkNSWVBURUQg BQR1AgUFJJVkFURS";

const FORMS: readonly Marked[] = [
  {
    marks: ["LS0tLS1CRUdJTi"],
    kind: "private-key",
    pattern: new RegExp(
      `LS0tLS1CRUdJTi(?:${ENCODED_KEYS.replaceAll(" ", "|")})[A-Za-z0-9+/=]{20,}(?:\\s*\\n${GUTTER}[A-Za-z0-9+/=]{40,})*`,
      "dg",
    ),
  },
  {
    marks: ['"kty"', "'kty'"],
    kind: "private-key",
    pattern: /["'](?:d|p|q|dp|dq|qi|k)["']\s*:\s*["'](?<secret>[A-Za-z0-9_-]{20,700})["']/dg,
  },
  { marks: ["<Modulus>"], kind: "private-key", pattern: /<(?:P|Q|DP|DQ|InverseQ|D)>(?<secret>[A-Za-z0-9+/=\s]{20,800})<\//dg },
  {
    marks: ["minisign encrypted secret", "signify secret"],
    kind: "private-key",
    pattern: /(?:minisign encrypted|signify) secret key\s*\n[ \t]*(?<secret>[A-Za-z0-9+/=]{100,400})/dg,
  },
  {
    // The numbers that `openssl -text` prints.
    marks: ["prime1:", "priv:"],
    kind: "private-key",
    pattern: new RegExp(
      `(?:privateExponent|prime[12]|exponent[12]|coefficient|priv):(?<secret>(?:\\s*\\n${GUTTER}(?:[0-9a-f]{2}:?){6,40})+)`,
      "dg",
    ),
  },
  {
    marks: ["$ANSIBLE_VAULT"],
    kind: "secret",
    pattern: new RegExp(`\\$ANSIBLE_VAULT;[^\\n]{1,60}(?<secret>(?:\\n${GUTTER}[0-9a-f]{16,80})+)`, "dg"),
  },
  {
    // Hashes of passwords, as `crypt` writes them.
    marks: "$2a $2b $2y $apr1 $argon2 $scrypt $1$ $5$ $6$ $7$ $y$".split(" "),
    kind: "password-hash",
    pattern: /\$(?:2[aby]|apr1|1|5|6|7|y|argon2(?:id?|d)|scrypt)\$[./A-Za-z0-9$=,+-]{20,200}/dg,
  },
  {
    marks: "{SHA {SSHA {MD5 {SMD5 {CRYPT} {PLAIN} {CLEARTEXT} {PBKDF2".split(" "),
    kind: "password-hash",
    pattern: /\{(?:S?SHA(?:256|512)?|S?MD5|CRYPT|PLAIN|CLEARTEXT|PBKDF2[\w-]*)\}(?<secret>[A-Za-z0-9+/=$.]{8,200})/dg,
  },
  { marks: ["AccountKey="], kind: "azure-storage-key", pattern: /(?<=AccountKey=)[A-Za-z0-9+/]{86}==/dg },
  { marks: ["::add-mask::"], kind: "secret", pattern: /::add-mask::(?<secret>\S{4,400})/dg },
  {
    // The values of a Kubernetes secret, whatever their names are.
    marks: ["kind: Secret", 'kind": "Secret"', "kubernetes.io/"],
    kind: "secret",
    pattern: new RegExp(
      `(?<=\\b(?:data|stringData):[ \\t]*(?:\\n${GUTTER}[\\w.-]{1,80}: *\\S+){0,30}\\n${GUTTER}[\\w.-]{1,80}: *)["']?(?<secret>[^\\s"']{6,8000})`,
      "dg",
    ),
  },
  {
    // `.pgpass`: host, port, database, user, password.
    marks: [":*:", ":5432:", ":5433:"],
    kind: "password",
    pattern: /(?<![\w.:])[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*.-]{1,64}:[\w*.-]{1,64}:(?<secret>[^\s:"']{6,200})(?=["'\s]|$)/dg,
    as: "password",
  },
  {
    marks: [".dockerconfigjson"],
    kind: "secret",
    pattern: /\.dockerconfigjson["']?\s*[:=]\s*["']?(?<secret>[A-Za-z0-9+/=]{40,8000})/dg,
  },
  {
    // Addresses of databases without a scheme.
    marks: ["@tcp(", "@unix(", "@udp("],
    kind: "password",
    pattern: /(?<=["'`=\s][\w.-]{1,60}:)(?<secret>[^\s"'`]{4,200}?)(?=@(?:tcp|unix|udp)\()/dg,
    as: "password",
  },
  {
    marks: ["/t/"],
    kind: "secret",
    pattern: /\/t\/(?<secret>(?:[a-z]{2}-)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?=\/)/dg,
  },
  {
    // `userlist.txt` of PgBouncer.
    marks: ['" "'],
    kind: "password",
    pattern: new RegExp(`(?<=(?:^|\\n|["'])${GUTTER}"[\\w.-]{1,40}" ")(?<secret>[^"\\s]{6,200})(?="[ \\t]*(?:\\n|$|["']))`, "dg"),
    as: "password",
  },
  {
    // The protocol of Redis.
    marks: ["AUTH\n"],
    kind: "password",
    pattern: /AUTH\n+\$\d+\n+(?<secret>[^\s"]{6,200})/dg,
    as: "password",
  },
  {
    marks: ["identified"],
    kind: "password",
    pattern: /\bIDENTIFIED\s+(?:WITH\s+\S+\s+)?(?:BY|AS)\s+(?:PASSWORD\s+)?["'](?<secret>[^"'\n]{4,200})["']/dgi,
    as: "password",
  },
  {
    // What was drawn by chance on purpose.
    marks: ["openssl rand", "pwgen", "/dev/urandom", "token_hex", "token_urlsafe", "randomBytes", "wg genkey", "wg genpsk"],
    kind: "secret",
    pattern: new RegExp(
      `(?:openssl rand|pwgen|/dev/urandom|token_hex|token_urlsafe|randomBytes|wg gen(?:key|psk))[^\\n]{0,120}\\n${GUTTER}(?<secret>[A-Za-z0-9+/=_-]{16,400})(?=["'\`]|\\n|$)`,
      "dg",
    ),
    as: "key",
  },
  {
    // Accounts of a new machine, a line each.
    marks: ["chpasswd:"],
    kind: "password",
    pattern: new RegExp(
      `(?<=chpasswd:[^\\n]*(?:\\n${GUTTER}[^\\n]{1,200}){1,20}?\\n${GUTTER}[\\w.-]{1,40}:)(?<secret>[^\\s:"']{4,200})(?=["']?(?:\\n|$))`,
      "dg",
    ),
    as: "password",
  },
  {
    // What is decoded in the same line.
    marks: ["base64 -"],
    kind: "secret",
    pattern: /(?<secret>[A-Za-z0-9+/]{16,4000}={0,2})["']?[ ]*\|[ ]*(?:openssl )?base64[ ]+-{1,2}d/dg,
  },
];

const visitMarks = wordVisitor(FORMS.flatMap(({ marks }) => marks));
const beginning = (text: string, at: number): string => text.slice(at, at + 3).toLowerCase();
const BY_BEGINNING = new Map<string, (readonly [mark: string, form: Marked])[]>();
for (const form of FORMS)
  for (const mark of form.marks)
    BY_BEGINNING.set(beginning(mark, 0), [...(BY_BEGINNING.get(beginning(mark, 0)) ?? []), [mark, form]]);

/** Keys, hashes and passwords of forms that show themselves by a mark: encoded keys, `$2b$…`, `IDENTIFIED BY`, `kind: Secret`. */
export const findMarked: Finder = (scan) => {
  const { text } = scan;
  const present = new Set<Marked>();
  visitMarks(scan, (at) => {
    for (const [mark, form] of BY_BEGINNING.get(beginning(text, at)) ?? [])
      if (text.startsWith(mark, at) || text.slice(at, at + mark.length).toLowerCase() === mark) present.add(form);
  });
  const hits: Hit[] = [];
  for (const { kind, pattern, as } of present)
    for (const match of text.matchAll(pattern)) {
      const [start, end] = secretOf(match) ?? [match.index, match.index + match[0].length];
      if (as === undefined || isSecret(text.slice(start, end), as, ALONE)) hits.push({ start, end, kind });
    }
  return hits;
};
