const list = (count, make) => Array.from({ length: count }, (_, index) => make(index)).join("\n");

/** Texts that look like secrets to a search that is too eager, and must stay as they are: `family: variant`. */
export const PLAIN = {
  "git: log": (v) => list(4, () => `commit ${v.sha(40)}\nDate:   Mon Jan 5 10:00:00 2026\n\n    Fix the parser`),
  "git: oneline": (v) => list(5, () => `${v.sha(9)} Merge branch 'main'`),
  "git: index": (v) => `diff --git a/src/a.ts b/src/a.ts\nindex ${v.sha(10)}..${v.sha(10)} 100644`,
  "git: tree": (v) => list(3, () => `100644 blob ${v.sha(40)}\tREADME.md`),
  "git: rev": (v) => `GIT_COMMIT=${v.sha(40)}\nBUILD_REF=${v.sha(40)}`,
  "lock: npm": (v) => `"integrity": "sha512-${v.base64(64)}",`,
  "lock: yarn": (v) => `  resolved "https://example.com/a/-/a-1.0.0.tgz#${v.sha(40)}"\n  integrity sha1-${v.base64(20)}`,
  "lock: go": (v) => `github.com/a/b v1.2.3 h1:${v.base64(32)}\ngithub.com/a/b v1.2.3/go.mod h1:${v.base64(32)}`,
  "lock: cargo": (v) => `name = "serde"\nversion = "1.0.200"\nchecksum = "${v.hex(64)}"`,
  "lock: pip": (v) => `numpy==2.0.0 \\\n    --hash=sha256:${v.hex(64)} \\\n    --hash=sha256:${v.hex(64)}`,
  "lock: poetry": (v) => `content-hash = "${v.hex(64)}"\n{file = "a-1.whl", hash = "sha256:${v.hex(64)}"},`,
  "lock: nix": (v) => `"narHash": "sha256-${v.base64(32)}",\n"rev": "${v.sha(40)}",`,
  "digest: docker": (v) => `FROM node:20@sha256:${v.hex(64)}\nDigest: sha256:${v.hex(64)}`,
  "digest: sums": (v) => list(3, (at) => `${v.hex(64)}  file${at}.bin`),
  "digest: md5": (v) => `MD5 (a.iso) = ${v.hex(32)}`,
  "digest: etag": (v) => `ETag: "${v.hex(32)}"\nLast-Modified: Mon, 05 Jan 2026 10:00:00 GMT`,
  "digest: sri": (v) => `<script src="a.js" integrity="sha384-${v.base64(48)}" crossorigin="anonymous"></script>`,
  "digest: csp": (v) => `Content-Security-Policy: script-src 'sha256-${v.base64(32)}'`,
  "uuid: list": (v) => list(4, () => v.uuid()),
  "uuid: json": (v) => `{"id": "${v.uuid()}", "parentUuid": "${v.uuid()}", "requestId": "req_${v.alnum(24)}"}`,
  "uuid: path": (v) => `/var/lib/docker/volumes/${v.uuid()}/_data`,
  "id: mongo": (v) => `{"_id": {"$oid": "${v.hex(24)}"}, "owner": ObjectId("${v.hex(24)}")}`,
  "id: ulid": (v) => `"event_id": "01H${v.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23)}"`,
  "id: nano": (v) => `"id": "${v.urlsafe(21)}", "slug": "about-us"`,
  "id: stripe objects": (v) =>
    `{"id": "cus_${v.alnum(14)}", "payment_intent": "pi_${v.alnum(24)}", "price": "price_${v.alnum(24)}"}`,
  "id: aws": (v) => `i-0${v.hex(16)} subnet-0${v.hex(16)} arn:aws:iam::123456789012:role/app`,
  "id: trace": (v) => `traceparent: 00-${v.hex(32)}-${v.hex(16)}-01\nX-Request-Id: ${v.uuid()}`,
  "id: pod": (v) => `web-${v.lownum(10)}-${v.lownum(5)}   1/1   Running`,
  "id: container": (v) => `CONTAINER ID   IMAGE\n${v.hex(12)}   postgres:16\n${v.hex(64)}`,
  "id: video": (v) => `https://www.youtube.com/watch?v=${v.urlsafe(11)}&list=PL${v.urlsafe(32)}`,
  "id: call": (v) => `{"type": "tool_use", "id": "toolu_01${v.alnum(22)}", "name": "Bash"}`,
  "id: message": (v) => `Message-ID: <${v.hex(16)}.${v.hex(8)}>`,
  "id: sentry event": (v) => `event_id=${v.hex(32)} release=app@1.2.3`,
  "image: data": (v) => `background: url(data:image/png;base64,iVBORw0KGgo${v.base64(200)});`,
  "image: jpeg": (v) => `<img src="data:image/jpeg;base64,/9j/4AAQSkZJRg${v.base64(300)}">`,
  "image: font": (v) => `@font-face{src:url(data:font/woff2;base64,d09GMgABAAAA${v.base64(300)})}`,
  "binary: xxd": (v) => list(4, (at) => `0000${at}000: ${list(8, () => v.hex(4)).replaceAll("\n", " ")}  ................`),
  "binary: od": (v) => list(3, (at) => `000000${at}0  ${list(16, () => v.hex(2)).replaceAll("\n", " ")}  |................|`),
  "binary: bytes": (v) => `b'\\x${v.hex(2)}\\x${v.hex(2)}\\x${v.hex(2)}\\x00' 0x${v.hex(8)} 0x${v.hex(16)}`,
  "binary: registers": (v) => `RAX: 0x${v.hex(16)} RBX: 0x${v.hex(16)} RIP: 0x${v.hex(16)}`,
  "binary: symbols": () => "_ZNSt6vectorIiSaIiEE9push_backERKi\n_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
  "minified: code": () =>
    'var a=function(t,e){return t.k=e,t.p||(t.p=n(7)),t.token=r,t}(s,o),c=i("x3F9"),l=u.key(e)?d.pass(t):null;',
  "minified: map": () =>
    "//# sourceMappingURL=app.js.map\nmappings: AAAA,SAASA,EAAEC,GAAG,OAAOC,EAAEF,GAAGG,KAAKC,IAAI;AACA,IAAIC",
  "minified: chunk": (v) => `dist/assets/index-${v.urlsafe(8)}.js   142.31 kB\ndist/assets/vendor.${v.hex(20)}.css`,
  "minified: css": (v) => `<div class="css-${v.lownum(7)} sc-${v.alnum(6)} jss${v.digits(3)}">`,
  "path: nix": (v) => `/nix/store/${v.lownum(32)}-hello-2.12/bin/hello`,
  "path: cache": (v) => `~/.cache/pip/http/${v.hex(2)}/${v.hex(56)}`,
  "path: objects": (v) => `.git/objects/${v.hex(2)}/${v.hex(38)}`,
  "key: ssh public": (v) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${v.base64(32).slice(0, 43)} build`,
  "key: ssh fingerprint": (v) => `256 SHA256:${v.base64(32).slice(0, 43)} build (ED25519)`,
  "key: certificate": (v) => `-----BEGIN CERTIFICATE-----\n${v.body(500).join("\n")}\n-----END CERTIFICATE-----`,
  "key: public": (v) => `-----BEGIN PUBLIC KEY-----\n${v.body(270).join("\n")}\n-----END PUBLIC KEY-----`,
  "key: gpg": (v) =>
    `gpg: key ${v.hex(16).toUpperCase()}: public key imported\npub   rsa4096 2024-01-01 [SC]\n      ${v.hex(40).toUpperCase()}`,
  "key: wireguard public": (v) => `[Peer]\nPublicKey = ${v.base64(32)}\nEndpoint = 10.0.0.1:51820`,
  "key: jwk public": (v) => `{"kty":"EC","crv":"P-256","x":"${v.urlsafe(43)}","y":"${v.urlsafe(43)}"}`,
  "chain: address": (v) => `to: ${v.address()} amount: 0.5 BTC`,
  "chain: ethereum": (v) => `0x${v.hex(40)} sent 1 ETH in tx 0x${v.hex(64)}`,
  "chain: block": (v) => `"blockHash": "0x${v.hex(64)}", "nonce": "0x${v.hex(16)}"`,
  "chain: cid": (v) => `ipfs://bafybei${v.lownum(52)}/metadata.json`,
  "chain: extended public": (v) => `xpub6C${v.text("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 105)}`,
  "template: env example": () =>
    "DB_PASSWORD=\nAPI_KEY=your_api_key_here\nJWT_SECRET=changeme\nTOKEN=<your-token>\nSMTP_PASS=xxxxxxxx",
  "template: actions": () => "env:\n  TOKEN: ${{ secrets.DEPLOY_TOKEN }}\n  password: ${{ secrets.DB_PASSWORD }}",
  "template: helm": () => 'password: {{ .Values.db.password | quote }}\ntoken: "{{ vault_token }}"',
  "template: shell": () => 'curl -H "Authorization: Bearer $TOKEN" -u "$USER:$PASS" "https://api.example.com?key=${API_KEY}"',
  "template: compose": () =>
    "POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?set it}\nDATABASE_URL: postgres://app:${DB_PASSWORD}@db/app",
  "template: terraform": () => 'password = var.db_password\ntoken    = data.vault_generic_secret.app.data["token"]',
  "template: docs": () => "curl -H 'Authorization: Bearer YOUR_API_KEY' https://api.example.com\nexport OPENAI_API_KEY=sk-...",
  "code: types": () => "interface Login { username: string; password: string; token?: string | null; apiKey: string }",
  "code: hashing": () =>
    "user.password_hash = generate_password_hash(password)\nif not check_password(password, user.password_hash): return None",
  "code: reading": () =>
    'const secret = process.env.JWT_SECRET;\nconst token = req.headers.authorization?.split(" ")[1];\nlet password = prompt("Password:")',
  "code: random": () =>
    "token = secrets.token_urlsafe(32)\nconst key = crypto.randomBytes(32).toString('hex')\npassword = generatePassword(16)",
  "code: lexer": () =>
    "token = self.next_token()\nif token.type == TokenType.IDENTIFIER: self.tokens.append(token)\neos_token_id = tokenizer.eos_token_id",
  "code: keys": () =>
    "for (const key of Object.keys(map)) cache.set(`user:${key}`, value);\nsorted(items, key=lambda item: item[1])",
  "code: tests": () => 'expect(login("anna", "wrong")).rejects.toThrow("invalid password");\nassert token == expected_token',
  "code: sql": () =>
    "SELECT id, password_hash, reset_token FROM users WHERE reset_token IS NOT NULL;\nALTER TABLE users ADD COLUMN api_key VARCHAR(64) NOT NULL",
  "code: form": () =>
    '<label for="password">Password</label>\n<input type="password" id="password" autocomplete="new-password" required>',
  "code: schema": () => '"password": {"type": "string", "minLength": 12, "description": "At least one digit and one sign"}',
  "code: regex": () =>
    "const PATTERN = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\\d)[A-Za-z\\d@$!%*?&]{8,}$/;\npassword: z.string().regex(PATTERN)",
  "code: messages": () =>
    '"auth.password.required": "Please enter your password",\n"auth.token.expired": "Your token has expired",',
  "code: long names": () => "com.example.security.oauth2.client.registration.ClientRegistrationRepositoryBeanDefinitionParser2",
  "code: constants": () => "const PASSWORD_RESET_TOKEN_EXPIRY_MINUTES = 30;\nconst TOKEN_TYPE_BEARER = 'bearer_token_v2';",
  "code: names of secrets": () => "secretName: web-tls-2026\nsecretKeyRef:\n  name: db-credentials-v2\n  key: password-primary-1",
  "code: arrays": (v) =>
    `const BYTES = [${Array.from({ length: 24 }, () => v.digits(2)).join(", ")}];\nself.weights = [0.${v.digits(16)}, -1.${v.digits(15)}]`,
  "prose: story": () =>
    "once upon that time they went with your other friend just over there when they could have asked about what happened then",
  "prose: words": () =>
    '["apple", "banana", "cherry", "orange", "lemon", "grape", "melon", "peach", "plum", "kiwi", "mango", "berry", "olive"]',
  "prose: security": () =>
    "Passwords must have 12 characters. Keep your API key secret, rotate the token every 90 days, and never commit a private key.",
  "prose: question": () =>
    "Why does the password reset token expire? The key idea is that the session token is refreshed on login.",
  "prose: french": () => "Le mot de passe doit contenir au moins douze caractères; la clé secrète est stockée dans le coffre.",
  "prose: latin": () =>
    "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua",
  "prose: list": () => "build test lint format check deploy release clean install update remove search watch serve preview",
  "prose: numbered": () =>
    list(
      13,
      (at) =>
        `${at + 1}. ${["open", "close", "build", "check", "clean", "start", "stop", "reload", "write", "read", "copy", "move", "print"][at]}`,
    ),
  "log: build": (v) => `[10:00:01] Compiled in 3.2s (hash ${v.hex(20)})\nStep 3/9 : RUN npm ci\n ---> ${v.hex(12)}`,
  "log: access": (v) => `10.0.0.4 - - [05/Jan/2026:10:00:00 +0000] "GET /static/js/main.${v.hex(8)}.js HTTP/1.1" 200 5123`,
  "log: test": () =>
    "PASS src/auth/token.test.ts (5.12 s)\n  ✓ rejects an expired token (12 ms)\n  ✓ hashes the password (210 ms)",
  "log: stack": () =>
    "Error: invalid token\n    at verifyToken (/app/node_modules/jsonwebtoken/verify.js:171:19)\n    at Layer.handle [as handle_request]",
  "log: token counts": () =>
    "prompt_tokens=1532 completion_tokens=210 max_tokens: 4096 total_tokens: 1742 cache_read_input_tokens: 88123",
  "log: migration": () => "20260105100000_add_reset_password_token_to_users.rb\nV12__create_api_keys_table.sql",
  "data: svg": () => '<path d="M12.5 3.1c-2.3 0-4.1 1.8-4.1 4.1v2.3H6.8a1.2 1.2 0 0 0-1.2 1.2v8.4z" fill="#1f2937"/>',
  "data: csv": (v) => `id,lat,lon\n${list(3, (at) => `${at},${v.digits(2)}.${v.digits(12)},${v.digits(2)}.${v.digits(12)}`)}`,
  "data: dna": (v) => `>seq1\n${v.text("ACGT", 60)}\n${v.text("ACGT", 60)}`,
  "data: protein": (v) => `MKV${v.text("ACDEFGHIKLMNPQRSTVWY", 57)}`,
  "data: notebook": (v) => `"cell_type": "code", "id": "${v.hex(8)}", "execution_count": 4`,
  "data: terraform": (v) => `"lineage": "${v.uuid()}", "serial": 12, "etag": "${v.hex(32)}", "version_id": "${v.urlsafe(32)}"`,
  "data: coordinates": () => "POINT (-122.4194155 37.7749295) SRID=4326; geohash 9q8yyk8ytpxr",
  "data: versions": () => "typescript@5.4.5 eslint@9.0.0 @types/node@20.12.7 react@19.0.0-rc.1 next@15.0.0-canary.42",
  "address: query": () => "https://example.com/search?q=password+reset+token&sort=new&page=2&lang=en-US",
  "address: docs": () => "https://developer.example.com/docs/authentication/api-keys-and-access-tokens#rotating-a-secret-key",
  "address: package": () => "https://files.example.com/packages/3f/8a/numpy-2.0.0-cp312-cp312-manylinux_2_17_x86_64.whl",
  "address: no password": () =>
    "postgres://localhost:5432/app redis://cache:6379/0 mongodb://mongo:27017/test https://user@example.com/a.git",
  "address: s3": (v) => `s3://backups/2026/01/${v.hex(32)}/dump.sql.gz`,
  "name: cloudformation": (v) => `ApiHandlerServiceRoleDefaultPolicy${v.hex(8).toUpperCase()} CREATE_COMPLETE`,
  "name: lambda": (v) => `app-prod-ApiHandler-${v.upnum(12)}`,
  "name: branch": () => "feature/AUTH-1234-rotate-api-key-for-payment-service-v2",
  "name: snapshot": () => 'exports[`renders the password form 1`] = `<PasswordInput tokenCount={3} secretLabel="Key" />`;',
  "name: classes": () => "org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder javax.crypto.spec.SecretKeySpec",
};
