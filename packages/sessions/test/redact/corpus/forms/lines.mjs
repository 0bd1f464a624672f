import { hide as s } from "../values.mjs";

const join = (...lines) => lines.join("\n");
const basic = (v) => Buffer.from(`${v.user()}:${v.made()}`).toString("base64");
/** Passwords that an address may hold without escapes. */
const plain = (v) => v.password().replace(/[@:/#%+*!$?&]/g, "x");
/** Passwords that a shell takes without quotes. */
const bareWord = (v) => v.password().replace(/[!#*$&;]/g, "x");

const environment = [
  [
    "env-password",
    (v) => `${v.pick(["DB_PASSWORD", "POSTGRES_PASSWORD", "MYSQL_ROOT_PASSWORD", "ADMIN_PASS"])}=${s(v.password())}`,
  ],
  ["env-quoted-password", (v) => `DB_PASSWORD="${s(v.password())}"`],
  ["env-single-quoted", (v) => `export SMTP_PASSWORD='${s(v.password())}'`],
  ["env-hex-32", (v) => `${v.pick(["API_KEY", "APP_SECRET", "DD_API_KEY", "ENCRYPTION_KEY"])}=${s(v.hex(32))}`],
  ["env-hex-40", (v) => `${v.pick(["ACCESS_TOKEN", "DD_APP_KEY", "WEBHOOK_SECRET", "WANDB_API_KEY"])}=${s(v.hex(40))}`],
  ["env-hex-64", (v) => `${v.pick(["SESSION_SECRET", "SIGNING_KEY", "COOKIE_SECRET"])}=${s(v.hex(64))}`],
  ["env-base64-secret", (v) => `${v.pick(["JWT_SECRET", "AUTH_SECRET", "ENCRYPTION_KEY"])}=${s(v.base64(32))}`],
  ["env-uuid-key", (v) => `${v.pick(["HEROKU_API_KEY", "SCW_SECRET_KEY", "POSTMARK_SERVER_TOKEN"])}=${s(v.uuid())}`],
  ["env-aws-secret", (v) => `AWS_SECRET_ACCESS_KEY=${s(v.awsSecret())}`],
  ["env-twilio-auth-token", (v) => join(`TWILIO_ACCOUNT_SID=AC${v.hex(32)}`, `TWILIO_AUTH_TOKEN=${s(v.hex(32))}`)],
  ["env-cloudflare-token", (v) => `CLOUDFLARE_API_TOKEN=${s(v.urlsafe(40))}`],
  ["env-algolia-key", (v) => `ALGOLIA_ADMIN_API_KEY=${s(v.hex(32))}`],
  ["env-mistral-key", (v) => `MISTRAL_API_KEY=${s(v.alnum(32))}`],
  ["env-cohere-key", (v) => `CO_API_KEY=${s(v.alnum(40))}`],
  ["env-codecov-token", (v) => `CODECOV_TOKEN=${s(v.uuid())}`],
  ["env-prefixed-key", (v) => `REACT_APP_SECRET_KEY=${s(v.key(40))}`],
  [
    "env-mail-app-password",
    (v) => `GMAIL_APP_PASSWORD="${s([1, 2, 3, 4].map(() => v.text("abcdefghijklmnopqrstuvwxyz", 4)).join(" "))}"`,
  ],
  ["powershell-env", (v) => `$env:API_TOKEN = "${s(v.key(40))}"`],
  ["cmd-set", (v) => `set DB_PASSWORD=${s(bareWord(v))}`],
  ["fish-set", (v) => `set -x API_SECRET ${s(v.key(32))}`],
  ["dockerfile-env", (v) => join("FROM node:20", `ENV API_TOKEN=${s(v.key(32))}`)],
  ["dockerfile-arg-space", (v) => `ENV DB_PASSWORD ${s(bareWord(v))}`],
  ["systemd-environment", (v) => `Environment="DB_PASSWORD=${s(bareWord(v))}"`],
  [
    "printenv-dump",
    (v) =>
      join("SHELL=/bin/bash", `PGPASSWORD=${s(v.password())}`, "LANG=C.UTF-8", `STRIPE_API_SECRET=${s(v.key(32))}`, "PWD=/app"),
  ],
  ["declare-x-dump", (v) => join('declare -x HOME="/app"', `declare -x API_KEY="${s(v.key(40))}"`)],
];

const commands = [
  ["mysql-p", (v) => `mysql -h ${v.host()} -u ${v.user()} -p${s(bareWord(v))} shop`],
  ["mysqldump-password", (v) => `mysqldump --user=${v.user()} --password=${s(bareWord(v))} shop > dump.sql`],
  ["sshpass", (v) => `sshpass -p ${v.pick([(x) => x, (x) => `'${x}'`])(s(bareWord(v)))} ssh ${v.user()}@${v.host()}`],
  ["curl-user", (v) => `curl -u ${v.user()}:${s(bareWord(v))} https://${v.host()}/status`],
  ["curl-user-quoted", (v) => `curl --user "${v.user()}:${s(v.password())}" https://${v.host()}/api`],
  ["curl-bearer", (v) => `curl -H "Authorization: Bearer ${s(v.key(40))}" https://api.${v.word()}.dev/v1/me`],
  ["curl-x-api-key", (v) => `curl -s -H 'X-API-Key: ${s(v.key(32))}' https://api.${v.word()}.dev/v1/me`],
  ["curl-private-token", (v) => `curl --header "PRIVATE-TOKEN: ${s(v.urlsafe(20))}" https://git.${v.word()}.dev/api/v4/projects`],
  ["curl-json-password", (v) => `curl -d '{"username":"${v.user()}","password":"${s(v.password())}"}' https://${v.host()}/login`],
  ["curl-form-password", (v) => `curl -d "username=${v.user()}&password=${s(bareWord(v))}" https://${v.host()}/login`],
  ["wget-password", (v) => `wget --user=${v.user()} --password=${s(bareWord(v))} https://${v.host()}/a.tgz`],
  ["httpie-auth", (v) => `http -a ${v.user()}:${s(bareWord(v))} GET https://${v.host()}/api`],
  ["docker-login-p", (v) => `docker login -u ${v.user()} -p ${s(bareWord(v))} registry.${v.word()}.dev`],
  ["docker-run-e", (v) => `docker run -d -e POSTGRES_PASSWORD=${s(bareWord(v))} -p 5432:5432 postgres:16`],
  ["psql-pgpassword", (v) => `PGPASSWORD=${s(bareWord(v))} psql -h ${v.host()} -U ${v.user()} shop`],
  ["redis-cli-a", (v) => `redis-cli -h ${v.host()} -a ${s(bareWord(v))} ping`],
  ["mongo-p", (v) => `mongosh --host ${v.host()} -u ${v.user()} -p ${s(bareWord(v))} admin`],
  ["sqlcmd-p", (v) => `sqlcmd -S ${v.host()} -U sa -P '${s(v.password())}' -Q 'select 1'`],
  ["ldapsearch-w", (v) => `ldapsearch -x -D cn=admin,dc=acme,dc=org -w ${s(bareWord(v))} uid=x`],
  ["openssl-passin", (v) => `openssl rsa -in key.pem -passin pass:${s(bareWord(v))} -out out.pem`],
  ["zip-password", (v) => `unzip -P ${s(bareWord(v))} backup.zip`],
  ["keytool-storepass", (v) => `keytool -list -keystore app.jks -storepass ${s(bareWord(v))}`],
  ["token-flag", (v) => `${v.pick(["vercel", "netlify deploy", "flyctl"])} --token ${s(v.key(32))} --prod`],
  ["token-flag-equals", (v) => `deploy --api-key=${s(v.key(32))} --region eu`],
  ["echo-password-stdin", (v) => `echo "${s(v.password())}" | docker login -u ${v.user()} --password-stdin`],
  ["chpasswd", (v) => `echo '${v.user()}:${s(v.password())}' | chpasswd`],
  ["htpasswd-b", (v) => `htpasswd -cb .htpasswd ${v.user()} ${s(bareWord(v))}`],
  ["kubectl-from-literal", (v) => `kubectl create secret generic db --from-literal=password=${s(bareWord(v))}`],
  ["gh-secret-set", (v) => `gh secret set API_TOKEN --body "${s(v.key(40))}"`],
  ["aws-configure-set", (v) => `aws configure set aws_secret_access_key ${s(v.awsSecret())}`],
  ["git-remote-token", (v) => `origin\thttps://oauth2:${s(v.alnum(26))}@git.${v.word()}.dev/app.git (fetch)`],
  ["git-extraheader", (v) => `git -c http.extraheader="AUTHORIZATION: basic ${s(basic(v))}" fetch`],
  ["net-use", (v) => `net use Z: \\\\${v.host()}\\share /user:${v.user()} ${s(bareWord(v))}`],
  ["sql-identified-by", (v) => `CREATE USER 'app'@'%' IDENTIFIED BY '${s(v.password())}';`],
  ["sql-with-password", (v) => `ALTER USER ${v.user()} WITH PASSWORD '${s(v.password())}';`],
];

const connections = [
  ["postgres-url", (v) => `DATABASE_URL=postgres://${v.user()}:${s(plain(v))}@${v.host()}:5432/shop`],
  ["mongodb-srv-url", (v) => `mongodb+srv://${v.user()}:${s(plain(v))}@cluster0.${v.lownum(5)}.mongodb.net/?retryWrites=true`],
  ["redis-url", (v) => `redis://:${s(plain(v))}@${v.host()}:6379/0`],
  ["amqp-url", (v) => `amqp://${v.user()}:${s(plain(v))}@${v.host()}:5672/%2F`],
  ["sqlalchemy-url", (v) => `create_engine("postgresql+psycopg2://${v.user()}:${s(plain(v))}@${v.host()}/shop")`],
  ["escaped-password-url", (v) => `mysql://${v.user()}:${s(`${v.alnum(5)}%40${v.alnum(6)}%21`)}@${v.host()}:3306/shop`],
  ["https-basic-url", (v) => `https://${v.user()}:${s(plain(v))}@${v.host()}/artifacts/a.tgz`],
  ["smtp-url", (v) => `smtp://${v.user()}%40acme.dev:${s(plain(v))}@${v.host()}:587`],
  ["ftp-url", (v) => `ftp://${v.user()}:${s(plain(v))}@${v.host()}/in`],
  ["jdbc-query", (v) => `jdbc:mysql://${v.host()}:3306/shop?user=${v.user()}&password=${s(plain(v))}&useSSL=true`],
  ["odbc-pwd", (v) => `Driver={ODBC Driver 18};Server=${v.host()};Uid=${v.user()};Pwd=${s(plain(v).replace(/;/g, "x"))};`],
  ["pg-dsn", (v) => `host=${v.host()} port=5432 dbname=shop user=${v.user()} password=${s(plain(v))} sslmode=require`],
];

const headers = [
  ["authorization-bearer", (v) => `Authorization: Bearer ${s(v.key(40))}`],
  ["authorization-basic", (v) => `Authorization: Basic ${s(basic(v))}`],
  ["authorization-token", (v) => `Authorization: token ${s(v.hex(40))}`],
  ["authorization-bare", (v) => `authorization: ${s(v.key(48))}`],
  ["authorization-digest", (v) => `Proxy-Authorization: Basic ${s(basic(v))}`],
  ["x-api-key", (v) => `x-api-key: ${s(v.key(36))}`],
  ["x-auth-token", (v) => `X-Auth-Token: ${s(v.key(32))}`],
  ["api-key-header", (v) => `Ocp-Apim-Subscription-Key: ${s(v.hex(32))}`],
  [
    "cookie-session",
    (v) => `Cookie: theme=dark; ${v.pick(["sessionid", "connect.sid", "PHPSESSID", "_session_id"])}=${s(v.alnum(32))}; lang=en`,
  ],
  ["set-cookie", (v) => `Set-Cookie: session=${s(v.urlsafe(48))}; Path=/; HttpOnly; Secure`],
  ["cookie-jwt", (v) => `cookie: token=${s(v.jwt())}`],
  ["csrf-token", (v) => `X-CSRF-Token: ${s(v.base64(48))}`],
  [
    "trace-lines",
    (v) =>
      join("> GET /v1/me HTTP/2", `> Host: api.${v.word()}.dev`, `> authorization: Bearer ${s(v.urlsafe(43))}`, "> accept: */*"),
  ],
  ["headers-object", (v) => `headers: { "Content-Type": "application/json", Authorization: "Bearer ${s(v.key(40))}" }`],
  ["headers-python", (v) => `requests.get(url, headers={'X-Api-Key': '${s(v.key(32))}'}, timeout=10)`],
];

const of = (kind, table) => table.map(([name, make]) => ({ name, kind, make }));

export const lines = [
  ...of("environment", environment),
  ...of("command lines", commands),
  ...of("connection strings", connections),
  ...of("headers and cookies", headers),
];
