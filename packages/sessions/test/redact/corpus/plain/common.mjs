const same = (text) => () => text;

const texts = {
  "login function": same(
    `def login(username, password):\n    user = get_user(username)\n    if not user or not verify_password(password, user.password_hash):\n        raise InvalidCredentials("wrong password")\n    return create_access_token(user)`,
  ),
  "env reads": same(
    `const token = process.env.GITHUB_TOKEN;\nif (!token) throw new Error("GITHUB_TOKEN is not set");\nconst password = process.env.DB_PASSWORD ?? "";`,
  ),
  "python env": same(
    `API_KEY = os.environ["API_KEY"]\nSECRET = os.getenv("SECRET_KEY")\nclient = Client(api_key=API_KEY, token=settings.token)`,
  ),
  "type definitions": same(
    `interface Credentials {\n  username: string;\n  password: string;\n  apiKey?: string | null;\n  refreshToken: Promise<Token>;\n}`,
  ),
  "go struct": same(
    'type Config struct {\n\tUser     string `json:"user"`\n\tPassword string `json:"password"`\n\tToken    string `json:"token,omitempty"`\n}',
  ),
  "rust struct": same(
    `pub struct Auth {\n    pub token: Option<String>,\n    password: SecretString,\n    api_key: Arc<str>,\n}`,
  ),
  pydantic: same(
    `class UserCreate(BaseModel):\n    email: EmailStr\n    password: str = Field(min_length=8)\n    token: Optional[str] = None`,
  ),
  "lexer tokens": same(
    `const token = lexer.next();\nif (token.type === TokenType.Identifier) return parseIdentifier(token);\ntokens.push({ token: "keyword", value: "return" });`,
  ),
  "token count": same(`{"usage": {"prompt_tokens": 1532, "completion_tokens": 211, "total_tokens": 1743, "max_tokens": 4096}}`),
  "placeholder env": same(
    `# .env.example\nOPENAI_API_KEY=your-api-key-here\nDB_PASSWORD=changeme\nJWT_SECRET=<your-secret>\nGITHUB_TOKEN=\nSTRIPE_KEY=sk_test_xxxxxxxxxxxxxxxx`,
  ),
  "docs placeholder curl": same(
    `curl https://api.example.com/v1/items \\\n  -H "Authorization: Bearer $API_TOKEN" \\\n  -H "X-Api-Key: <YOUR_API_KEY>"`,
  ),
  "docs url": same("Set DATABASE_URL to postgresql://user:password@localhost:5432/dbname before you start the server."),
  "url variables": same(`DATABASE_URL=postgres://\${DB_USER}:\${DB_PASSWORD}@\${DB_HOST}:5432/\${DB_NAME}`),
  "workflow secrets": same(
    `env:\n  NPM_TOKEN: \${{ secrets.NPM_TOKEN }}\n  GH_TOKEN: \${{ github.token }}\npermissions:\n  id-token: write`,
  ),
  "masked log": same(`  NODE_AUTH_TOKEN: ***\n  password: ********\n  api_key: sk-...REDACTED\n  token: [hidden]`),
  "compose refs": same(
    `environment:\n  POSTGRES_PASSWORD: \${POSTGRES_PASSWORD:?required}\n  POSTGRES_PASSWORD_FILE: /run/secrets/db_password`,
  ),
  "k8s secret ref": same(`- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db-credentials\n      key: password`),
  "terraform variable": same(
    `variable "db_password" {\n  type      = string\n  sensitive = true\n}\n\npassword = var.db_password`,
  ),
  "terraform output sensitive": same(`Outputs:\n\ndb_password = <sensitive>\nvpc_name = "main"`),
  "git log": (v) =>
    `commit ${v.hex(40)}\nAuthor: Dev <dev@example.com>\nDate:   Mon Mar 3 10:12:01 2025 +0100\n\n    Rotate the token on logout`,
  "git log oneline": (v) =>
    `${v.hex(7)} Fix password reset link\n${v.hex(7)} Add token refresh\n${v.hex(7)} (tag: v1.2.0) Release`,
  "git diff header": (v) =>
    `diff --git a/src/token.ts b/src/token.ts\nindex ${v.hex(7)}..${v.hex(7)} 100644\n--- a/src/token.ts\n+++ b/src/token.ts\n@@ -10,7 +10,7 @@ export function refreshToken(`,
  sha256sums: (v) => `${v.sha(64)}  app-linux-amd64.tar.gz\n${v.sha(64)}  app-darwin-arm64.tar.gz`,
  "package lock": (v) =>
    `"node_modules/js-tokens": {\n  "version": "4.0.0",\n  "resolved": "https://registry.example/js-tokens/-/js-tokens-4.0.0.tgz",\n  "integrity": "sha512-${v.base64(64)}",\n  "license": "MIT"\n}`,
  "yarn lock": (v) =>
    `js-tokens@^4.0.0:\n  version "4.0.0"\n  resolved "https://registry.example/js-tokens/-/js-tokens-4.0.0.tgz#${v.hex(40)}"\n  integrity sha512-${v.base64(64)}`,
  "cargo lock": (v) =>
    `[[package]]\nname = "secrecy"\nversion = "0.8.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "${v.sha(64)}"`,
  "go sum": (v) => `golang.org/x/crypto v0.21.0 h1:${v.base64(32)}\ngolang.org/x/crypto v0.21.0/go.mod h1:${v.base64(32)}`,
  "poetry lock": (v) => `files = [\n    {file = "keyring-24.3.1-py3-none-any.whl", hash = "sha256:${v.sha(64)}"},\n]`,
  "requirements hashes": (v) => `pyjwt==2.8.0 \\\n    --hash=sha256:${v.sha(64)} \\\n    --hash=sha256:${v.sha(64)}`,
  "docker images": (v) =>
    `REPOSITORY   TAG   IMAGE ID       CREATED       SIZE\nweb          dev   ${v.hex(12)}   2 hours ago   182MB\nDigest: sha256:${v.sha(64)}`,
  uuids: (v) => `{"id": "${v.uuid()}", "userId": "${v.uuid()}", "requestId": "${v.uuid()}", "status": "ok"}`,
  "trace ids": (v) => `trace_id=${v.hex(32)} span_id=${v.hex(16)} parent_id=${v.hex(16)} msg="handled request"`,
  "aws arns": (v) =>
    `arn:aws:secretsmanager:us-east-1:${v.digits(12)}:secret:prod/db\narn:aws:iam::${v.digits(12)}:role/ci\nvpc-${v.hex(17)} subnet-${v.hex(17)} i-${v.hex(17)}`,
  "gcp azure ids": (v) => `project: acme-prod-${v.digits(6)}\nsubscriptionId: ${v.uuid()}\ntenantId: ${v.uuid()}`,
  "etag headers": (v) =>
    `HTTP/2 200\netag: "${v.hex(32)}"\nx-request-id: ${v.uuid()}\ncache-control: max-age=3600\ncontent-security-policy: script-src 'sha256-${v.base64(32)}'`,
  "asset names": (v) =>
    `dist/assets/index-${v.hex(8)}.js   142.10 kB\ndist/assets/vendor-${v.hex(8)}.js  310.44 kB\ndist/assets/auth-${v.hex(8)}.css    4.02 kB`,
  "public key": (v) => `-----BEGIN PUBLIC KEY-----\n${v.body(294).join("\n")}\n-----END PUBLIC KEY-----`,
  certificate: (v) => `-----BEGIN CERTIFICATE-----\n${v.body(800).join("\n")}\n-----END CERTIFICATE-----`,
  "ssh public key": (v) =>
    `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${v.alnum(43)} dev@laptop\nSHA256:${v.alnum(43)} dev@laptop (ED25519)`,
  "known hosts": (v) => `github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${v.alnum(43)}`,
  "test names": same(
    `PASS tests/auth/password-reset.test.ts\n  ✓ rejects an expired token (12 ms)\n  ✓ hashes the password with bcrypt (88 ms)\n  ✓ returns 401 when the api key is missing (4 ms)`,
  ),
  "pytest output": same(
    `tests/test_auth.py::test_invalid_password_returns_401 PASSED\ntests/test_tokens.py::TestRefresh::test_refresh_token_rotates PASSED\n2 passed in 0.31s`,
  ),
  css: same(
    `.password-field:focus{outline:2px solid #1e90ff;color:#a1b2c3}\n.token--active{background:rgba(0,0,0,.4);margin:0 auto}`,
  ),
  "minified js": same(
    `!function(e,t){"object"==typeof exports?module.exports=t():e.Auth=t()}(this,function(){var e={},t=function(n){return n.token||n.key||null};return e.getToken=t,e.setPassword=function(n,r){n.password=r},e});`,
  ),
  "html form": same(
    `<label for="password">Password</label>\n<input type="password" id="password" name="password" autocomplete="current-password" placeholder="Enter your password" required>\n<input type="hidden" name="csrf_token" value="{{ csrf_token }}">`,
  ),
  i18n: same(
    `{"login.password": "Password", "login.forgot": "Forgot your password?", "settings.apiKey": "API key", "token.expired": "Your token has expired"}`,
  ),
  "sql schema": same(
    `CREATE TABLE users (\n  id SERIAL PRIMARY KEY,\n  password_hash VARCHAR(255) NOT NULL,\n  api_token TEXT UNIQUE,\n  foreign_key_id INTEGER REFERENCES keys(id)\n);`,
  ),
  openapi: same(
    `components:\n  securitySchemes:\n    apiKey:\n      type: apiKey\n      in: header\n      name: X-API-Key\n    bearer:\n      type: http\n      scheme: bearer\n      bearerFormat: JWT`,
  ),
  "json schema": same(
    `{"password": {"type": "string", "minLength": 12, "format": "password"}, "token": {"type": "string", "description": "Access token"}}`,
  ),
  "config without values": same(
    `[database]\nhost = localhost\nuser = app\npassword =\n\n[auth]\ntoken_ttl = 3600\npassword_min_length = 12\nsecret_backend = vault`,
  ),
  "java getters": same(
    `public String getPassword() { return this.password; }\npublic void setPassword(String password) { this.password = passwordEncoder.encode(password); }`,
  ),
  "jwt code": same(
    `const payload = jwt.verify(token, publicKey, { algorithms: ["RS256"] });\nconst accessToken = await signToken({ sub: user.id }, privateKey, { expiresIn: "15m" });`,
  ),
  argparse: same(
    `parser.add_argument("--password", help="database password (prompted when absent)")\nparser.add_argument("--token", default=None, metavar="TOKEN")\nargs.password = args.password or getpass.getpass("Password: ")`,
  ),
  "cli help": same(
    `Usage: deploy [options]\n  -u, --user <name>        user name\n  -p, --password <value>   password\n  --token <token>          access token [env: DEPLOY_TOKEN]\n  --key-file <path>        path to the private key`,
  ),
  errors: same(
    `fatal: Authentication failed for 'https://github.com/acme/web.git/'\nERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)\nSyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON`,
  ),
  "shell prompts": same(
    `[sudo] password for dev: \nEnter passphrase for key '/home/dev/.ssh/id_ed25519': \nread -s -p "Password: " PASS\nexport PGPASSWORD="$PASS"`,
  ),
  "react state": same(
    `const [password, setPassword] = useState("");\nconst [token, setToken] = useState<string | null>(null);\n<Input type={showPassword ? "text" : "password"} onChange={(e) => setPassword(e.target.value)} />`,
  ),
  "user prose": same(
    "Please add a password reset flow: the token should expire after 30 minutes, and the API key page should show only the last four characters. My password is never accepted after the update, can you look why?",
  ),
  "assistant prose": same(
    "The secret key is read from the environment in settings.py, so the password never reaches the logs. I moved the token check into middleware/auth.ts and kept the key names as they were.",
  ),
  "redux and keys": same(
    `const ACCESS_TOKEN_KEY = "access_token";\nconst PASSWORD_RESET_REQUESTED = "auth/passwordResetRequested";\nlocalStorage.removeItem(ACCESS_TOKEN_KEY);\nqueryKey: ["api-keys", projectId]`,
  ),
  "file listing": same(
    `-rw-r--r-- 1 dev dev  1204 Mar  3 10:12 password_validator.py\n-rw------- 1 dev dev   411 Mar  3 10:12 id_ed25519\n-rw-r--r-- 1 dev dev  8812 Mar  3 10:12 tokenizer_config.json\n-rw-r--r-- 1 dev dev   220 Mar  3 10:12 secrets.example.yaml`,
  ),
  "call ids": (v) =>
    `{"id": "toolu_01${v.alnum(22)}", "type": "tool_use", "name": "read"}\n{"tool_call_id": "call_${v.alnum(24)}", "id": "chatcmpl-${v.alnum(29)}", "request_id": "req_${v.alnum(24)}"}`,
};

/** What stands in sessions every day and looks near to a secret. */
export const commonTexts = Object.entries(texts).map(([name, make]) => ({
  name: `common-${name.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase()}`,
  make,
}));
