const join = (...lines) => lines.join("\n");
const B32 = "abcdefghijklmnopqrstuvwxyz234567";

/** Code, documents and messages that speak of secrets without holding one. */
const code = [
  ["fastapi-depends", () => "def me(token: Annotated[str, Depends(oauth2_scheme)], db: Session = Depends(get_db)) -> User:"],
  ["pydantic-secret-field", () => 'db_password: SecretStr = Field(..., alias="DB_PASSWORD", min_length=12)'],
  ["zod-schema", () => "password: z.string().min(8).max(72), token: z.string().uuid().optional(),"],
  ["sqlalchemy-column", () => "password_hash: Mapped[str] = mapped_column(String(255), nullable=False)"],
  [
    "sql-migration",
    () =>
      "ALTER TABLE users ADD COLUMN reset_token VARCHAR(64) DEFAULT NULL;\nCREATE INDEX idx_users_reset_token ON users (reset_token);",
  ],
  ["sql-placeholders", () => "INSERT INTO users (name, password, api_key) VALUES ($1, $2, $3) RETURNING id"],
  [
    "graphql-mutation",
    () => "mutation Login($email: String!, $password: String!) { login(email: $email, password: $password) { token } }",
  ],
  ["openapi-security", () => "securitySchemes:\n  bearerAuth:\n    type: http\n    scheme: bearer\n    bearerFormat: JWT"],
  ["swift-keychain", () => "let token = KeychainHelper.shared.read(service: service, account: account)"],
  ["kotlin-prefs", () => 'val apiKey = BuildConfig.API_KEY.takeIf { it.isNotBlank() } ?: error("API_KEY is not set")'],
  [
    "csharp-configuration",
    () => 'var secret = builder.Configuration["Jwt:Secret"] ?? throw new InvalidOperationException("Jwt:Secret is missing");',
  ],
  ["spring-value", () => `@Value("\${app.jwt.secret}") private String jwtSecret;`],
  ["vite-env", () => "const key = import.meta.env.VITE_MAPS_API_KEY as string;"],
  ["bash-required", () => `: "\${API_TOKEN:?set API_TOKEN first}"\nread -rsp "Password: " PASSWORD`],
  ["bash-from-file", () => 'export GITHUB_TOKEN="$(gh auth token)"\nDB_PASSWORD=$(cat /run/secrets/db_password)'],
  ["vault-read", () => "password: !vault-read secret/data/shop#password"],
  ["onepassword-reference", () => "API_TOKEN=op://Engineering/shop-api/token"],
  ["aws-secret-reference", () => "password: '{{resolve:secretsmanager:prod/db:SecretString:password}}'"],
  ["bicep-secure", () => "@secure()\nparam adminPassword string\noutput keyVaultName string = vault.name"],
  ["gitlab-ci-variable", () => "script:\n  - docker login -u $CI_REGISTRY_USER -p $CI_REGISTRY_PASSWORD $CI_REGISTRY"],
  ["windows-variable", () => 'set DB_PASSWORD=%DB_PASSWORD%\ncurl -H "X-Api-Key: %API_KEY%" https://api.example.com'],
  ["kwargs-pass-through", () => "return cls(host=host, password=kwargs.pop('password', None), token=token or self._token)"],
  ["constant-time", () => "if not hmac.compare_digest(expected_signature, request.headers['X-Signature']):"],
  ["password-rules", () => "password.length >= 12 && /[A-Z]/.test(password) && /[0-9]/.test(password)"],
  ["parser-tokens", () => "Token::Ident(name) => self.expect_token(Token::Colon).map(|_| Key::Named(name)),"],
  [
    "tokenizer-json",
    () => '"added_tokens": [{"id": 151643, "content": "<|endoftext|>", "special": true}], "pad_token": "<|endoftext|>"',
  ],
  ["attention-keys", () => "key_states = self.k_proj(hidden_states).view(bsz, q_len, self.num_key_value_heads, self.head_dim)"],
  ["keyboard-shortcuts", () => '{ "key": "ctrl+shift+p", "command": "workbench.action.showCommands" }, { "key": "cmd+k cmd+s" }'],
  ["redis-keys", () => `const key = \`session:\${tenant}:\${userId}\`; await redis.set(key, value, "EX", 3600);`],
  ["i18n-keys", () => '"auth.errors.invalid_token": "The token is invalid or has expired."'],
  [
    "angular-form",
    () => "this.form = this.fb.group({ username: ['', Validators.required], password: ['', Validators.minLength(8)] });",
  ],
  ["testing-library", () => 'await user.type(screen.getByLabelText("Password"), password);'],
  ["fixture-names", () => "@pytest.fixture\ndef auth_token(client, user):\n    return create_token(user)"],
  ["mock-return", () => "monkeypatch.setattr(secrets, 'token_urlsafe', lambda n=32: 'x' * n)"],
  ["documented-flag", () => "| `--token` | string | Token for the API. Falls back to `ACME_TOKEN`. |"],
  ["readme-setup", () => "Set `OPENAI_API_KEY` in your shell, or put it into `.env` (see `.env.example`)."],
  ["env-example", () => "OPENAI_API_KEY=sk-...\nDATABASE_URL=postgres://user:password@localhost:5432/db\nJWT_SECRET=replace-me"],
  ["docs-curl", () => 'curl https://api.example.com/v1/models -H "Authorization: Bearer YOUR_API_KEY"'],
  [
    "bare-401",
    () => '{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","code":"invalid_api_key"}}',
  ],
  ["masked-by-ci", () => "Run deploy --token ***\n  env:\n    API_TOKEN: ***\n    REGION: eu-north-1"],
  ["masked-tail", () => "aws_secret_access_key     ****************Q3Zk shared-credentials-file"],
  ["describe-secret", () => "Data\n====\npassword:  24 bytes\ntls.key:   1704 bytes"],
  ["secret-list", () => "NAME            UPDATED\nNPM_TOKEN       about 2 months ago\nDEPLOY_KEY      2026-01-05"],
  ["prose-token-count", () => "The prompt has 18,422 tokens, so the key is to keep the system prompt short and cache it."],
  ["prose-key-idea", () => "The key idea: pass the token down, never the password, and let the middleware check it."],
  [
    "prose-rotate",
    () => "Rotate the API key after the deploy and update the secret in the vault; the old password stops working.",
  ],
  ["changelog-auth", () => "- Fix password reset when the token has expired (#1842)\n- Add `--password-file` to `login`"],
  ["commit-subject", () => "feat(auth): refresh access token before expiry and retry once on 401"],
  ["makefile-check", () => "ifndef API_TOKEN\n$(error API_TOKEN is undefined)\nendif"],
  [
    "css-custom-properties",
    () => "--token-space-200: 0.5rem;\n--ds-key-focus-ring: 0 0 0 2px color-mix(in srgb, var(--accent) 40%, transparent);",
  ],
];

/** Random-looking texts that no one has to keep. */
const ids = [
  [
    "npm-lock-entry",
    (v) => `"node_modules/undici-types": {\n  "version": "6.21.0",\n  "integrity": "sha512-${v.base64(64)}",\n  "license": "MIT"`,
  ],
  ["pnpm-lock", (v) => `  /@babel/core@7.26.0:\n    resolution: {integrity: sha512-${v.base64(64)}}`],
  ["uv-lock", (v) => `sdist = { name = "attrs-25.3.0.tar.gz", hash = "sha256:${v.hex(64)}", size = 812032 }`],
  ["gemfile-checksum", (v) => `  rack (3.1.8) sha256=${v.hex(64)}`],
  ["podfile-checksum", (v) => `SPEC CHECKSUMS:\n  Alamofire: ${v.hex(40)}`],
  ["bazel-module", (v) => `http_archive(name = "rules_go", sha256 = "${v.hex(64)}", strip_prefix = "rules_go-0.50.1")`],
  ["terraform-lock", (v) => `  hashes = [\n    "h1:${v.base64(32)}",\n    "zh:${v.hex(64)}",\n  ]`],
  ["git-cat-file", (v) => `tree ${v.hex(40)}\nparent ${v.hex(40)}\ncommitter Ada 1767607200 +0000`],
  ["git-reflog", (v) => `${v.hex(7)} HEAD@{0}: rebase (finish): returning to refs/heads/main\n${v.hex(7)} HEAD@{1}: commit: wip`],
  ["git-lfs-pointer", (v) => `version https://git-lfs.github.com/spec/v1\noid sha256:${v.hex(64)}\nsize 1048576`],
  ["git-push-range", (v) => `   ${v.hex(9)}..${v.hex(9)}  main -> main`],
  ["gemini-call-id", (v) => `"functionCall": {"id": "function-call-${v.digits(20)}", "name": "read_file"}`],
  ["responses-item-ids", (v) => `"id": "rs_${v.hex(50)}", "previous_response_id": "resp_${v.hex(50)}"`],
  ["thinking-block-id", (v) => `{"type":"server_tool_use","id":"srvtoolu_01${v.alnum(22)}","name":"web_search"}`],
  ["session-uuid-line", (v) => `{"parentUuid":"${v.uuid()}","sessionId":"${v.uuid()}","isSidechain":false}`],
  ["ulid", (v) => `{"event_id": "01J${v.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23)}", "kind": "created"}`],
  ["nanoid-key", (v) => `<Row key="${v.urlsafe(21)}" data-id="${v.urlsafe(21)}" />`],
  ["relay-global-id", (v) => `"node": {"id": "${Buffer.from(`PullRequest:${v.digits(9)}`).toString("base64")}", "number": 42}`],
  [
    "graphql-cursor",
    (v) => `"pageInfo": {"endCursor": "${Buffer.from(`cursor:v2:${v.digits(10)}`).toString("base64")}", "hasNextPage": true}`,
  ],
  [
    "actions-cache-key",
    (v) => `key: \${{ runner.os }}-pip-\${{ hashFiles('**/requirements.txt') }}\nCache hit: Linux-pip-${v.hex(64)}`,
  ],
  ["turbo-cache", (v) => `@acme/web:build: cache hit, replaying logs ${v.hex(16)}`],
  ["docker-build-steps", (v) => `#9 sha256:${v.hex(64)} 31.4MB / 31.4MB done\n#12 writing image sha256:${v.hex(64)} done`],
  ["kubernetes-hash-label", (v) => `pod-template-hash=${v.text("bcdf456789", 10)}\ncontroller-uid: ${v.uuid()}`],
  ["etcd-revision", (v) => `resourceVersion: "${v.digits(9)}"\nuid: ${v.uuid()}`],
  [
    "sourcemap-vlq",
    (v) =>
      `{"version":3,"sources":["a.ts"],"names":[],"mappings":"${"AAAA,IAAM,CAAC,GAAG,".repeat(4)}${v.text("ACEGIKMO", 8)};;"}`,
  ],
  [
    "minified-bundle",
    () => 'const Kt=e=>{const t=e.token,n=t?.key??"";return n===""?null:{k:n,p:e.password}};export{Kt as K,Vn as V};',
  ],
  ["webpack-stats", (v) => `asset main.${v.hex(20)}.js 1.2 MiB [emitted] [immutable] [minimized] (name: main)`],
  [
    "svg-path",
    () => '<path d="M12 2C6.48 2 2 6.48 2 12s4.48 10 10 10 10-4.48 10-10S17.52 2 12 2zm-1 17.93c-3.95-.49-7-3.85-7-7.93" />',
  ],
  ["base64-png-cell", (v) => `"image/png": "iVBORw0KGgoAAAANSUhEUgAA${v.base64(240)}"`],
  ["inline-svg-data", (v) => `background: url("data:image/svg+xml;base64,PHN2ZyB4bWxucz0i${v.base64(120)}");`],
  [
    "tailwind-classes",
    () => 'class="grid-cols-[minmax(0,1fr)_240px] data-[state=open]:animate-in hover:bg-primary/90 [&>svg]:size-4"',
  ],
  ["styled-class", (v) => `<div class="sc-${v.lownum(6)} ${v.alnum(6)} MuiButton-root css-${v.lownum(7)}-root">`],
  ["torch-checkpoint-keys", () => "model.layers.11.self_attn.k_proj.weight torch.Size([576, 576]) torch.bfloat16"],
  ["hub-snapshot", (v) => `models--acme--tiny/snapshots/${v.hex(40)}/model.safetensors`],
  ["mlflow-run", (v) => `run_id: ${v.hex(32)}\nexperiment_id: '${v.digits(18)}'`],
  ["wandb-run-address", (v) => `wandb: Run data is saved locally in wandb/run-20260105_100000-${v.lownum(8)}`],
  ["merkle-root", (v) => `merkle_root: ${v.hex(64)} height=${v.digits(6)} nonce=${v.digits(9)}`],
  ["ipfs-cid", (v) => `ipfs://bafybei${v.text(B32, 52)}/metadata.json`],
  ["onion-public-address", (v) => `http://${v.text(B32, 55)}d.onion/`],
  ["jwk-public", (v) => `{"kty":"RSA","use":"sig","alg":"RS256","kid":"${v.urlsafe(27)}","e":"AQAB","n":"${v.urlsafe(342)}"}`],
  ["ssh-agent-list", (v) => `256 SHA256:${v.base64(32).slice(0, 43)} deploy (ED25519)`],
  [
    "tls-serial",
    (v) =>
      `serial=${v.hex(36).toUpperCase()}\nX509v3 Subject Key Identifier: ${Array.from({ length: 20 }, () => v.hex(2).toUpperCase()).join(":")}`,
  ],
  ["csr-block", (v) => `-----BEGIN CERTIFICATE REQUEST-----\n${v.body(400).join("\n")}\n-----END CERTIFICATE REQUEST-----`],
  [
    "pgp-signature",
    (v) =>
      `-----BEGIN PGP SIGNATURE-----\n\niQIzBAABCAAdFiEE${v.base64(30)}\n${v.body(400).join("\n")}\n-----END PGP SIGNATURE-----`,
  ],
  ["csp-hash", (v) => `Content-Security-Policy: script-src 'self' 'sha256-${v.base64(32)}'`],
  ["analytics-ids", (v) => `gtag("config", "G-${v.upnum(10)}"); const measurementId = "G-${v.upnum(10)}";`],
  ["app-store-ids", (v) => `PRODUCT_BUNDLE_IDENTIFIER = dev.acme.shop;\nDEVELOPMENT_TEAM = ${v.upnum(10)};`],
  ["xcode-object-id", (v) => `\t\t${v.hex(24).toUpperCase()} /* App.swift in Sources */ = {isa = PBXBuildFile; };`],
  ["crash-addresses", (v) => `#4  0x000055${v.hex(10)} in parse_token (p=0x7ffd${v.hex(8)}) at lexer.c:211`],
  ["objdump-bytes", (v) => `  401136:\t${Array.from({ length: 7 }, () => v.hex(2)).join(" ")}\tmov    0x2ef3(%rip),%rax`],
  ["guid-registry", (v) => `HKCR\\CLSID\\{${v.uuid().toUpperCase()}}\\InprocServer32`],
  ["solution-guid", (v) => `Project("{${v.uuid().toUpperCase()}}") = "Shop", "Shop\\Shop.csproj", "{${v.uuid().toUpperCase()}}"`],
  ["test-matrix-names", () => "tests/auth/test_tokens.py::test_refresh_token_is_rotated[sha256-expired-3600] PASSED [ 41%]"],
  ["rails-migration-version", () => "== 20260105100000 AddEncryptedPasswordToUsers: migrated (0.0123s) =="],
  ["prisma-migration", (v) => `  migration_name: 20260105100000_add_api_key\n  checksum: ${v.hex(64)}`],
  ["protobuf-descriptor", () => "string access_token = 1 [(google.api.field_behavior) = REQUIRED, debug_redact = true];"],
  ["query-plan", () => "Index Cond: ((password_resets.token)::text = ($1)::text)  rows=1 width=64 actual time=0.021..0.022"],
  ["cloudfront-id", (v) => `x-amz-cf-id: ${v.urlsafe(54)}==\nx-amz-request-id: ${v.upnum(16)}`],
  ["cf-ray", (v) => `cf-ray: ${v.hex(16)}-OSL\nx-github-request-id: ${v.upnum(4)}:${v.upnum(5)}:${v.upnum(7)}`],
  ["phash-list", (v) => join(`a.png ${v.hex(16)}`, `b.png ${v.hex(16)}`, `crc32=${v.hex(8)}`)],
];

const of = (kind, table) => table.map(([name, make]) => ({ name, kind, make }));

export const secondTexts = [...of("code and prose", code), ...of("ids, hashes, keys for all", ids)];
