import { hide as s } from "../values.mjs";

const join = (...lines) => lines.join("\n");
const DASHES = "-----";
const head = (kind) => `${DASHES}BEGIN ${kind}${DASHES}`;
const tail = (kind) => `${DASHES}END ${kind}${DASHES}`;
const RSA = ["RSA", "PRIVATE", "KEY"].join(" ");
const PKCS8 = ["PRIVATE", "KEY"].join(" ");
const EC = ["EC", "PRIVATE", "KEY"].join(" ");
const SSH = ["OPENSSH", "PRIVATE", "KEY"].join(" ");
const PGP = ["PGP", "PRIVATE", "KEY", "BLOCK"].join(" ");
/** The base64 lines of a key, each one hidden; `start` is what every key of that kind begins with. */
const keyLines = (v, { bytes = 600, width = 64, start = "" } = {}) => {
  const text = start + v.base64(bytes);
  return text.match(new RegExp(`.{1,${width}}`, "g")).map(s);
};
const pem = (v, kind, options) => [head(kind), ...keyLines(v, options), tail(kind)];
const numbered = (v, lines, first = v.between(1, 40)) =>
  v
    .pick([
      () => lines.map((line, index) => `${String(first + index).padStart(6)}\t${line}`),
      () => lines.map((line, index) => `${String(first + index).padStart(6)}→${line}`),
      () => lines.map((line, index) => `${first + index}: ${line}`),
      () => lines.map((line, index) => `${String(first + index).padStart(4)} | ${line}`),
    ])()
    .join("\n");
const ssh = { bytes: 260, width: 70, start: "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAA" };
const red = (text) => `\u001b[31m${text}\u001b[0m`;
const password = (v) => v.password();

const privateKeys = [
  ["rsa-key", (v) => join(...pem(v, RSA, { bytes: 1190, start: "MIIEpAIBAAKCAQEA" }))],
  ["pkcs8-key", (v) => join(...pem(v, PKCS8, { bytes: 1200, start: "MIIEvgIBADANBgkqhkiG9w0BAQEFAASC" }))],
  ["ec-key", (v) => join(...pem(v, EC, { bytes: 110, start: "MHcCAQEEI" }))],
  ["ed25519-key", (v) => join(head(PKCS8), s(`MC4CAQAwBQYDK2VwBCIEI${v.base64(33).slice(0, 43)}`), tail(PKCS8))],
  ["openssh-key", (v) => join(...pem(v, SSH, ssh))],
  ["pgp-key", (v) => join(head(PGP), "", ...keyLines(v, { bytes: 700, start: "lQOYBF" }), `=${v.alnum(4)}`, tail(PGP))],
  [
    "encrypted-rsa-key",
    (v) =>
      join(
        head(RSA),
        "Proc-Type: 4,ENCRYPTED",
        `DEK-Info: AES-128-CBC,${v.hex(32).toUpperCase()}`,
        "",
        ...keyLines(v),
        tail(RSA),
      ),
  ],
  ["key-with-line-numbers", (v) => numbered(v, pem(v, RSA, { start: "MIIEpAIBAAKCAQEA" }))],
  ["openssh-key-with-line-numbers", (v) => numbered(v, pem(v, SSH, ssh))],
  ["key-tail-with-line-numbers", (v) => numbered(v, [...keyLines(v), tail(RSA)])],
  ["key-head-truncated", (v) => join(head(RSA), ...keyLines(v, { start: "MIIEpAIBAAKCAQEA" }), "... [output truncated]")],
  ["key-head-cut-short", (v) => join(head(PKCS8), ...keyLines(v, { bytes: 120, start: "MIIEvgIBADANBgkqhkiG9w0BAQEFAASC" }))],
  ["key-tail-truncated", (v) => join("[...]", ...keyLines(v), tail(PKCS8))],
  ["key-middle", (v) => join("[4 lines omitted]", ...keyLines(v), "[6 lines omitted]")],
  ["key-escaped-newlines", (v) => `PRIVATE_KEY="${[head(PKCS8), ...keyLines(v), tail(PKCS8)].join("\\n")}\\n"`],
  ["key-double-escaped", (v) => `{\\"private_key\\": \\"${[head(PKCS8), ...keyLines(v), tail(PKCS8)].join("\\\\n")}\\"}`],
  ["key-on-one-line", (v) => `JWT_PRIVATE_KEY="${head(RSA)} ${keyLines(v).join(" ")} ${tail(RSA)}"`],
  ["key-in-yaml-block", (v) => join("tls:", "  key: |", ...pem(v, PKCS8, {}).map((line) => `    ${line}`))],
  ["key-in-python-string", (v) => join('KEY = """', ...pem(v, RSA, {}), '"""')],
  ["key-in-string-parts", (v) => join("const KEY = [", ...pem(v, RSA, {}).map((line) => `  "${line}",`), '].join("\\n");')],
  [
    "key-in-diff",
    (v) =>
      pem(v, RSA, {})
        .map((line) => `+${line}`)
        .join("\n"),
  ],
  [
    "key-removed-in-diff",
    (v) =>
      pem(v, SSH, ssh)
        .map((line) => `-${line}`)
        .join("\n"),
  ],
  [
    "key-quoted",
    (v) =>
      pem(v, PKCS8, {})
        .map((line) => `> ${line}`)
        .join("\n"),
  ],
  [
    "key-in-grep-output",
    (v) =>
      pem(v, PKCS8, {})
        .map((line, at) => `certs/app.pem${at === 0 ? ":1:" : `-${at + 1}-`}${line}`)
        .join("\n"),
  ],
  ["key-crlf", (v) => pem(v, PKCS8, {}).join("\r\n")],
  [
    "key-base64-of-pem",
    (v) => `KEY_B64=${s(Buffer.from([head(PKCS8), ...v.body(300), tail(PKCS8)].join("\n")).toString("base64"))}`,
  ],
  [
    "putty-key",
    (v) =>
      join(
        "PuTTY-User-Key-File-3: ssh-rsa",
        "Encryption: none",
        "Private-Lines: 4",
        ...keyLines(v, { bytes: 180 }),
        `Private-MAC: ${v.hex(64)}`,
      ),
  ],
  ["jwk-private", (v) => `{"kty":"EC","crv":"P-256","x":"${v.urlsafe(43)}","y":"${v.urlsafe(43)}","d":"${s(v.urlsafe(43))}"}`],
  ["ethereum-private-key", (v) => `${v.pick(["PRIVATE_KEY", "DEPLOYER_PRIVATE_KEY"])}=0x${s(v.hex(64))}`],
];

const shown = [
  ["jwt-bare", (v) => s(v.jwt())],
  ["jwt-rs256", (v) => `access: ${s(v.jwt("RS256"))}`],
  ["jwt-cut", (v) => `token=${s(v.jwt().slice(0, 120))}...`],
  ["jwt-in-json", (v) => `{"access_token":"${s(v.jwt())}","token_type":"Bearer","expires_in":3600}`],
  ["ansi-env", (v) => `${red("DB_PASSWORD")}=${red(s(password(v)))}`],
  ["ansi-json", (v) => `\u001b[34;1m"apiKey"\u001b[0m: \u001b[32m"${s(v.key(40))}"\u001b[0m`],
  [
    "ansi-grep",
    (v) =>
      `\u001b[35m.env\u001b[m\u001b[36m:\u001b[m\u001b[32m3\u001b[m\u001b[36m:\u001b[m\u001b[01;31m\u001b[KAPI_KEY\u001b[m\u001b[K=${s(v.hex(32))}`,
  ],
  ["ansi-token", (v) => `Token: \u001b[1m${s(v.github(`gh${"p_"}`))}\u001b[22m`],
  ["diff-added-env", (v) => join("--- a/.env", "+++ b/.env", "@@ -1,2 +1,2 @@", "-DEBUG=0", `+SECRET_KEY=${s(v.key(40))}`)],
  ["diff-removed-env", (v) => join("@@ -3,1 +3,1 @@", `-DB_PASSWORD=${s(password(v))}`, "+DB_PASSWORD=${DB_PASSWORD}")],
  ["diff-yaml", (v) => `-  password: ${s(password(v))}`],
  ["numbered-env", (v) => numbered(v, ["DEBUG=0", `DB_PASSWORD=${s(password(v))}`, "PORT=80"])],
  ["numbered-yaml", (v) => numbered(v, ["db:", "  user: app", `  password: ${s(password(v))}`])],
  ["numbered-credentials", (v) => numbered(v, ["[default]", `aws_secret_access_key = ${s(v.awsSecret())}`])],
  ["numbered-json", (v) => numbered(v, ["{", `  "clientSecret": "${s(v.key(40))}",`, "}"])],
  ["grep-n-env", (v) => `.env:${v.between(1, 30)}:API_SECRET=${s(v.key(32))}`],
  ["grep-r-yaml", (v) => `deploy/values.yaml:    password: ${s(password(v))}`],
  ["git-grep-context", (v) => join(`config.py-11-DEBUG = True`, `config.py:12:DB_PASSWORD = "${s(password(v))}"`)],
  [
    "wrapped-token",
    (v) => {
      const token = `github${"_pat_"}11${v.upnum(20)}_${v.alnum(59)}`;
      return join(`token: ${s(token.slice(0, 60))}`, `${s(token.slice(60))}`);
    },
  ],
  [
    "wrapped-jwt",
    (v) =>
      s(v.jwt("RS256"))
        .match(/.{1,80}/g)
        .map((line) => line.replace(/[\uE000\uE001]/g, ""))
        .map(s)
        .join("\n"),
  ],
  ["wrapped-backslash", (v) => join("export API_TOKEN=\\", `  ${s(v.key(40))}`)],
  ["env-in-json-list", (v) => `"Env": ["PATH=/usr/bin", "DB_PASSWORD=${s(v.made().replace(/[\\"]/g, "x"))}", "LANG=C"]`],
  [
    "json-in-json",
    (v) =>
      JSON.stringify({ body: JSON.stringify({ user: "app", password: "@@" }) }).replace("@@", s(v.made().replace(/[\\"]/g, "x"))),
  ],
  ["json-thrice", (v) => JSON.stringify(JSON.stringify({ r: JSON.stringify({ api_key: "@@" }) })).replace("@@", s(v.key(40)))],
  ["python-dict-repr", (v) => `{'host': '${v.host()}', 'password': '${s(password(v))}', 'port': 5432}`],
  ["python-env-repr", (v) => `environ({'HOME': '/app', 'API_SECRET': '${s(v.key(40))}', 'LANG': 'C'})`],
  ["python-bytes-repr", (v) => `secret_key=b'${s(v.key(32))}'`],
  ["pydantic-repr", (v) => `Settings(debug=False, db_password='${s(password(v))}', port=80)`],
  ["go-struct-repr", (v) => `&{Host:${v.host()} User:app Password:${s(v.alnum(18))} Port:5432}`],
  ["ruby-hash", (v) => `{:user=>"app", :password=>"${s(password(v))}"}`],
  ["php-array", (v) => `'password' => '${s(password(v))}',`],
  ["lua-or-js-object", (v) => `const db = { user: "app", password: "${s(password(v))}" };`],
  ["java-field", (v) => `private static final String API_SECRET = "${s(v.key(32))}";`],
  ["python-argument", (v) => `conn = psycopg2.connect(host="${v.host()}", user="app", password="${s(password(v))}")`],
  ["go-short-variable", (v) => `apiToken := "${s(v.key(40))}"`],
  ["rust-const", (v) => `const SECRET_KEY: &str = "${s(v.key(32))}";`],
  ["c-define", (v) => `#define WIFI_PASSWORD "${s(v.chosen())}"`],
  ["env-fallback-js", (v) => `const secret = process.env.JWT_SECRET || "${s(v.key(32))}";`],
  ["env-fallback-python", (v) => `os.environ.get("DB_PASSWORD", "${s(password(v))}")`],
  ["setenv-call", (v) => `os.environ["API_KEY"] = "${s(v.key(32))}"`],
  ["yaml-table", (v) => `| password | ${s(password(v))} |`],
  ["markdown-list", (v) => `- **Password:** \`${s(password(v))}\``],
  ["log-line", (v) => `2026-01-05 10:00:01 INFO login user=${v.user()} password=${s(v.alnum(16))} ok`],
  ["logfmt-token", (v) => `level=info msg="refreshed" token=${s(v.key(40))} ttl=3600`],
  ["traceback-arguments", (v) => `TypeError: connect(host='${v.host()}', passwd='${s(password(v))}') got an unexpected keyword`],
  ["prose-password-is", (v) => `The password is ${s(v.made())} and the user is ${v.user()}.`],
  ["prose-user-and-password", (v) => `log in as ${v.user()} with password "${s(password(v))}" first`],
  ["prose-password-colon", (v) => `Password: ${s(password(v))}`],
  ["generated-password", (v) => join("Creating user...", `Generated root password: ${s(v.made(16, 24))}`, "Done.")],
  ["prompt-echo", (v) => join("Username: app", `Password: ${s(v.chosen())}`, "Logged in.")],
  ["otp-uri", (v) => `otpauth://totp/Acme:app?secret=${s(v.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32))}&issuer=Acme`],
  [
    "seed-phrase",
    (v) =>
      `MNEMONIC="${s(Array.from({ length: 12 }, () => v.pick(["abandon", "ability", "ladder", "mango", "orbit", "velvet", "zebra", "rural", "solar"])).join(" "))}"`,
  ],
];

const of = (kind, table) => table.map(([name, make]) => ({ name, kind, make }));
export const recorded = [...of("private keys", privateKeys), ...of("as recordings show them", shown)];
