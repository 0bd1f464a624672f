import { hide as s } from "../values.mjs";

const join = (...lines) => lines.join("\n");
const b64 = (text) => Buffer.from(text).toString("base64");
const word = (v) => v.password().replace(/[^A-Za-z0-9_.]/g, "x");
const DASHES = "-----";
const head = (kind) => `${DASHES}BEGIN ${kind}${DASHES}`;
const tail = (kind) => `${DASHES}END ${kind}${DASHES}`;
const KEY = ["PRIVATE", "KEY"].join(" ");
const DSA = `DSA ${KEY}`;
const LOCKED = `ENCRYPTED ${KEY}`;
const pem = (v, kind = KEY, bytes = 600) => [head(kind), ...v.body(bytes).map(s), tail(kind)];
const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const clock = (v, at) => `2026-01-05T10:00:${String(10 + (at % 49))}.${v.digits(7)}Z`;

const privateKeys = [
  ["dsa-key", (v) => join(...pem(v, DSA, 440))],
  ["locked-pkcs8-key", (v) => join(...pem(v, LOCKED, 900))],
  [
    "openvpn-static-key",
    (v) => join(head("OpenVPN Static key V1"), ...Array.from({ length: 16 }, () => s(v.hex(32))), tail("OpenVPN Static key V1")),
  ],
  ["rsa-jwk", (v) => `{"kty":"RSA","e":"AQAB","n":"${v.urlsafe(342)}","d":"${s(v.urlsafe(342))}","p":"${s(v.urlsafe(171))}"}`],
  ["symmetric-jwk", (v) => `{"keys": [{"kty": "oct", "alg": "HS256", "kid": "main", "k": "${s(v.urlsafe(43))}"}]}`],
  [
    "rsa-xml",
    (v) => `<RSAKeyValue><Modulus>${v.base64(128)}</Modulus><Exponent>AQAB</Exponent><D>${s(v.base64(128))}</D></RSAKeyValue>`,
  ],
  [
    "key-in-timed-log",
    (v) =>
      pem(v)
        .map((line, at) => `${clock(v, at)} ${line}`)
        .join("\n"),
  ],
  [
    "key-in-kubernetes-tls",
    (v) => join("data:", `  tls.key: ${s(b64(`${head(KEY)}\n${v.body(300).join("\n")}\n${tail(KEY)}\n`))}`),
  ],
  ["key-in-heredoc", (v) => join("cat > deploy.pem <<'PEM'", ...pem(v), "PEM", "chmod 600 deploy.pem")],
  ["solana-keypair", (v) => `id.json: [${s(Array.from({ length: 64 }, () => v.below(256)).join(","))}]`],
  ["extended-private-key", (v) => s(`xpr${"v9s21ZrQH143K"}${v.text(BASE58, 98)}`)],
  ["nostr-secret", (v) => `nostr key: ${s(`nse${"c1"}${v.text("qpzry9x8gf2tvdw0s3jn54khce6mua7l", 58)}`)}`],
];

const tables = [
  ["csv-column", (v) => join("name,email,password", `app,app@example.com,${s(word(v))}`)],
  [
    "psql-table",
    (v) =>
      join(" id | name | api_token", "----+------+----------------------------------", `  1 | app  | ${s(v.hex(32))}`, "(1 row)"),
  ],
  [
    "mysql-vertical",
    (v) => join("*************************** 1. row ***************************", "      id: 1", `password: ${s(word(v))}`),
  ],
  ["markdown-table-column", (v) => join("| User | Password |", "|---|---|", `| ${v.user()} | \`${s(word(v))}\` |`)],
  [
    "sql-insert-hash",
    (v) =>
      `INSERT INTO users (name, password_hash) VALUES ('app', '$2b$12$${s(v.text("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 53))}');`,
  ],
];

const readers = [
  ["bat-frame", (v) => join("   1   │ DEBUG=0", `   2   │ DB_PASSWORD=${s(word(v))}`, "   3   │ PORT=80")],
  ["nl-numbers", (v) => join("     1  [smtp]", `     2  password = ${s(v.password())}`)],
  ["ripgrep-heading", (v) => join("config/app.yml", `12:  secret_key: ${s(v.hex(40))}`, "19:  region: eu")],
  ["vimgrep-columns", (v) => `src/settings.py:14:1:API_SECRET = "${s(v.alnum(36))}"`],
  ["ripgrep-json", (v) => `{"type":"match","data":{"lines":{"text":"TOKEN = '${s(v.alnum(32))}'\\n"},"line_number":3}}`],
  ["word-diff", (v) => `  password: [-${s(word(v))}-]{+${s(word(v))}+}`],
  [
    "merge-conflict",
    (v) => join("<<<<<<< HEAD", `SECRET_KEY=${s(v.hex(48))}`, "=======", `SECRET_KEY=${s(v.hex(48))}`, ">>>>>>> main"),
  ],
  [
    "terminal-frame",
    (v) => join("╭──────────────────────────────╮", `│ Password: ${s(v.alnum(18))} │`, "╰──────────────────────────────╯"),
  ],
  ["notebook-cell", (v) => `"source": ["import os\\n", "API_KEY = \\"${s(v.alnum(40))}\\"\\n"]`],
  ["wrapped-assignment", (v) => join(`export WEBHOOK_SIGNING_SECRET=${s(v.hex(42))}`, s(v.hex(22)), "export REGION=eu-north-1")],
  ["cut-value", (v) => `ACCESS_TOKEN=${s(v.alnum(24))}… (output truncated)`],
  ["actions-log-env", (v) => `${clock(v, 1)}   DB_PASSWORD: ${s(word(v))}`],
  ["compose-log-prefix", (v) => `web-1  | Using admin password: ${s(word(v))}`],
];

const encoded = [
  ["html-entities", (v) => `{&quot;user&quot;:&quot;app&quot;,&quot;password&quot;:&quot;${s(word(v))}&quot;}`],
  ["url-encoded-form", (v) => `body=grant_type%3Dpassword%26username%3Dapp%26password%3D${s(word(v))}%26scope%3Dall`],
  ["soap-password", (v) => `<wsse:Password Type="http://acme.dev/oasis#PasswordText">${s(word(v))}</wsse:Password>`],
  ["html-password-value", (v) => `<input type="password" name="pw" value="${s(word(v))}" />`],
  ["postman-variable", (v) => `{"key": "auth_token", "value": "${s(v.alnum(40))}", "type": "secret", "enabled": true}`],
  [
    "access-log-query",
    (v) => `10.0.0.9 - - [05/Jan/2026:10:00:00 +0000] "GET /cb?reset_token=${s(v.urlsafe(43))} HTTP/1.1" 200 512`,
  ],
  ["strace-write", (v) => `write(5, "*2\\r\\n$4\\r\\nAUTH\\r\\n$20\\r\\n${s(v.alnum(20))}\\r\\n", 41) = 41`],
  ["unicode-escaped-json", (v) => `{"redirect":"https://acme.dev/?user=app\\u0026api_key=${s(v.alnum(32))}\\u0026v=1"}`],
];

const dumps = [
  ["pytest-locals", (v) => join("base       = 'https://acme.dev'", `password   = '${s(word(v))}'`, "retries    = 3")],
  ["argparse-namespace", (v) => `Namespace(verbose=False, api_token='${s(v.alnum(32))}', out=None)`],
  ["rust-debug-struct", (v) => `Config { host: "${v.host()}", password: "${s(word(v))}", port: 5432 }`],
  ["java-to-string", (v) => `DbConfig(user=app, password=${s(word(v))}, port=5432)`],
  ["elixir-keywords", (v) => `[username: "app", password: "${s(word(v))}", pool_size: 10]`],
  ["assertion-difference", (v) => join("E   AssertionError: assert {'token': None}", `E     - {'token': '${s(v.alnum(40))}'}`)],
];

const code = [
  ["playwright-fill", (v) => `await page.fill('input[name="password"]', '${s(v.chosen())}');`],
  ["browser-tool-type", (v) => `{"element": "Password field", "ref": "e12", "text": "${s(v.chosen())}", "submit": true}`],
  ["requests-auth-pair", (v) => `r = requests.get(url, auth=("${v.user()}", "${s(v.password())}"))`],
  ["smtp-login", (v) => `server.login("alerts@example.com", "${s(v.password())}")`],
  ["jwt-sign-secret", (v) => `const t = jwt.sign({ sub: user.id }, "${s(v.alnum(32))}", { expiresIn: "1h" });`],
  ["hmac-secret", (v) => `crypto.createHmac("sha256", "${s(v.hex(40))}").update(body).digest("hex")`],
  ["fernet-key", (v) => `f = Fernet(b"${s(v.base64(32).replaceAll("+", "-").replaceAll("/", "_"))}")`],
  ["perl-dbi", (v) => `my $dbh = DBI->connect("dbi:Pg:dbname=shop", "${v.user()}", "${s(word(v))}");`],
  ["gradle-build-field", (v) => `buildConfigField("String", "API_KEY", "\\"${s(v.alnum(36))}\\"")`],
  ["django-create-superuser", (v) => `User.objects.create_superuser("admin", "admin@example.com", "${s(word(v))}")`],
  ["network-credential", (v) => `var c = new NetworkCredential("${v.user()}", "${s(v.password())}");`],
  ["s3-client-options", (v) => `credentials: { accessKeyId: "${s(v.awsId())}", secretAccessKey: "${s(v.awsSecret())}" },`],
];

const prose = [
  ["prose-use-as-password", (v) => `Please use ${s(v.made())} as the password for the staging database.`],
  ["prose-german", (v) => `Das Passwort lautet ${s(v.made())} und der Benutzer ist ${v.user()}.`],
  ["prose-slash-pair", (v) => `Login for the test server: ${v.user()} / ${s(v.password())}`],
  ["prose-my-key-is", (v) => `my api key is ${s(v.alnum(32))}, can you put it into the env file?`],
  ["prose-reasoned-value", (v) => `The .env sets the JWT secret to \`${s(v.alnum(32))}\`, so I need the same in the worker.`],
  ["prose-password-changed-to", (v) => `I changed the root password from "${s(word(v))}" to "${s(word(v))}" on both hosts.`],
];

const of = (kind, table) => table.map(([name, make]) => ({ name, kind, make }));

export const secondRecorded = [
  ...of("private keys", privateKeys),
  ...of("as recordings show them", [...tables, ...readers, ...encoded, ...dumps, ...code, ...prose]),
];
