import { hide as s } from "../values.mjs";

const join = (...lines) => lines.join("\n");

/** Values that only their name or their place in a file gives away. */
const table = [
  // credentials files
  [
    "aws-credentials-file",
    (v) => join("[default]", `aws_access_key_id = ${s(v.awsId())}`, `aws_secret_access_key = ${s(v.awsSecret())}`),
  ],
  ["aws-credentials-tight", (v) => join(`[${v.word()}]`, `aws_secret_access_key=${s(v.awsSecret())}`, "region=eu-north-1")],
  ["aws-session-token", (v) => join("[mfa]", `aws_session_token = ${s(`IQoJb3JpZ2luX2VjE${v.base64(300)}`)}`)],
  ["netrc-one-line", (v) => `machine ${v.host()} login ${v.user()} password ${s(v.password())}`],
  ["netrc-lines", (v) => join(`machine ${v.host()}`, `  login ${v.user()}`, `  password ${s(v.password())}`)],
  ["pgpass", (v) => `${v.host()}:5432:shop:${v.user()}:${s(v.password().replace(/[:\\]/g, "x"))}`],
  ["my-cnf", (v) => join("[client]", `user=${v.user()}`, `password=${s(v.password())}`)],
  ["npmrc-auth-token", (v) => `//npm.${v.word()}.dev/:_authToken=${s(v.uuid())}`],
  ["npmrc-auth", (v) => `//npm.${v.word()}.dev/:_auth=${s(v.base64(33))}`],
  ["npmrc-password", (v) => `//npm.${v.word()}.dev/:_password=${s(Buffer.from(v.made()).toString("base64"))}`],
  [
    "pypirc",
    (v) =>
      join("[pypi-internal]", `repository: https://pip.${v.word()}.dev`, `username: ${v.user()}`, `password: ${s(v.password())}`),
  ],
  [
    "pip-conf-index-url",
    (v) => join("[global]", `extra-index-url = https://${v.user()}:${s(v.alnum(24))}@pip.${v.word()}.dev/simple`),
  ],
  [
    "docker-config-json",
    (v) => {
      const auth = Buffer.from(`${v.user()}:${v.made()}`).toString("base64");
      return join("{", '  "auths": {', `    "registry.${v.word()}.dev": {`, `      "auth": "${s(auth)}"`, "    }", "  }", "}");
    },
  ],
  ["git-credentials-store", (v) => `https://${v.user()}:${s(v.made(20, 30).replace(/[#%+*!]/g, "q"))}@git.${v.word()}.dev`],
  [
    "gh-hosts-yml",
    (v) =>
      join("github.com:", `    user: ${v.word()}`, `    oauth_token: ${s(v.github(`gh${"o_"}`))}`, "    git_protocol: https"),
  ],
  ["cargo-credentials", (v) => join("[registry]", `token = "${s(v.alnum(32))}"`)],
  ["gem-credentials", (v) => join("---", `:rubygems_api_key: ${s(v.hex(32))}`)],
  [
    "maven-settings",
    (v) =>
      join(
        "<server>",
        "  <id>internal</id>",
        `  <username>${v.user()}</username>`,
        `  <password>${s(v.password())}</password>`,
        "</server>",
      ),
  ],
  [
    "gradle-properties",
    (v) => join("org.gradle.jvmargs=-Xmx2g", `signing.password=${s(v.password())}`, `ossrhPassword=${s(v.made())}`),
  ],
  ["nuget-config", (v) => `<add key="${v.pick(["ClearTextPassword", "Password"])}" value="${s(v.made(20, 40))}" />`],
  [
    "composer-auth",
    (v) => `{"http-basic": {"repo.${v.word()}.dev": {"username": "${v.user()}", "password": "${s(v.hex(40))}"}}}`,
  ],
  [
    "htpasswd",
    (v) =>
      `${v.user()}:$apr1$${v.alnum(8)}$${s(v.text(`./${"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"}`, 22))}`,
  ],
  [
    "shadow-line",
    (v) =>
      `deploy:$6$${v.alnum(16)}$${s(v.text(`./${"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"}`, 86))}:19700:0:99999:7:::`,
  ],
  ["kubeconfig-token", (v) => join("users:", `- name: ${v.word()}`, "  user:", `    token: ${s(v.jwt("RS256"))}`)],
  ["kubeconfig-client-key", (v) => join("  user:", `    client-key-data: ${s(v.base64(1200))}`)],
  [
    "gcp-service-account-json",
    (v) => {
      const dashes = "-----";
      const key = `${dashes}BEGIN ${"PRIVATE"} KEY${dashes}\\n${v
        .body(600)
        .map((line) => s(line))
        .join("\\n")}\\n${dashes}END ${"PRIVATE"} KEY${dashes}\\n`;
      return join(
        "{",
        '  "type": "service_account",',
        `  "project_id": "${v.word()}-1",`,
        `  "private_key_id": "${v.hex(40)}",`,
        `  "private_key": "${key}",`,
        `  "client_id": "${v.digits(21)}"`,
        "}",
      );
    },
  ],
  [
    "gcp-adc-json",
    (v) =>
      join(
        "{",
        `  "client_secret": "${s(`d-${v.alnum(22)}`)}",`,
        `  "refresh_token": "${s(`1${"//"}0g${v.urlsafe(60)}`)}",`,
        '  "type": "authorized_user"',
        "}",
      ),
  ],
  [
    "azure-client-secret",
    (v) =>
      `${v.pick(["AZURE_CLIENT_SECRET", "ARM_CLIENT_SECRET", "client_secret"])}=${s(`${v.alnum(3)}8Q~${v.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_~.-", 34)}`)}`,
  ],
  [
    "azure-storage-connection",
    (v) => `DefaultEndpointsProtocol=https;AccountName=${v.word()};AccountKey=${s(v.base64(64))};EndpointSuffix=core.windows.net`,
  ],
  [
    "azure-service-bus",
    (v) => `Endpoint=sb://${v.word()}.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=${s(v.base64(32))}`,
  ],
  ["azure-devops-pat", (v) => `AZURE_DEVOPS_EXT_PAT=${s(v.text("abcdefghijklmnopqrstuvwxyz234567", 52))}`],
  // YAML and its relatives
  ["yaml-password", (v) => join("database:", `  host: ${v.host()}`, `  user: ${v.user()}`, `  password: ${s(v.password())}`)],
  [
    "yaml-quoted-password",
    (v) =>
      join("smtp:", `  ${v.pick(["pass", "passwd", "password"])}: ${v.pick(['"', "'"])}`).replace(
        /(["'])$/,
        (quote) => `${quote}${s(v.password())}${quote}`,
      ),
  ],
  ["yaml-secret-key", (v) => `secret_key_base: ${s(v.hex(128))}`],
  [
    "compose-environment-map",
    (v) =>
      join("services:", "  db:", "    image: postgres:16", "    environment:", `      POSTGRES_PASSWORD: ${s(v.password())}`),
  ],
  [
    "compose-environment-list",
    (v) =>
      join(
        "    environment:",
        "      - NODE_ENV=production",
        `      - DB_PASSWORD=${s(v.password())}`,
        `      - JWT_SECRET=${s(v.key(32))}`,
      ),
  ],
  [
    "k8s-secret-data",
    (v) =>
      join(
        "apiVersion: v1",
        "kind: Secret",
        "data:",
        `  password: ${s(Buffer.from(v.made()).toString("base64"))}`,
        `  api-key: ${s(Buffer.from(v.hex(32)).toString("base64"))}`,
      ),
  ],
  ["k8s-secret-string-data", (v) => join("kind: Secret", "stringData:", `  password: ${s(v.password())}`)],
  [
    "k8s-env-value",
    (v) =>
      join("        env:", "        - name: DB_PASSWORD", `          value: ${v.pick(["", '"'])}`).replace(
        /"?$/,
        (quote) => `${quote}${s(v.password())}${quote}`,
      ),
  ],
  ["helm-values", (v) => join("auth:", `  rootPassword: ${s(v.password())}`, `  replicationPassword: ${s(v.made())}`)],
  ["ansible-vars", (v) => join("- hosts: all", "  vars:", `    ansible_become_pass: ${s(v.password())}`)],
  ["github-workflow-literal", (v) => join("      env:", `        API_TOKEN: ${s(v.key(40))}`)],
  ["toml-password", (v) => join("[database]", `password = "${s(v.password())}"`)],
  ["toml-api-key", (v) => join("[llm]", 'model = "gpt-4o"', `api_key = "${s(v.key(40))}"`)],
  ["ini-password", (v) => join("[smtp]", `host = ${v.host()}`, `password = ${s(v.password())}`)],
  ["properties-password", (v) => join("spring.datasource.username=app", `spring.datasource.password=${s(v.password())}`)],
  ["xml-attribute", (v) => `<datasource url="jdbc:h2:mem" username="app" password="${s(v.password())}"/>`],
  ["xml-element", (v) => `<apiKey>${s(v.key(32))}</apiKey>`],
  ["plist", (v) => join("<key>API_SECRET</key>", `<string>${s(v.key(32))}</string>`)],
  ["json-password", (v) => join("{", `  "user": "${v.user()}",`, `  "password": "${s(v.password())}"`, "}")],
  [
    "json-api-key",
    (v) => `{"${v.pick(["apiKey", "api_key", "secretKey", "accessToken", "authToken"])}": "${s(v.key(32))}", "retries": 3}`,
  ],
  ["json5-secret", (v) => `  clientSecret: '${s(v.key(40))}',`],
  [
    "appsettings-connection",
    (v) =>
      `"Default": "Server=${v.host()};Database=shop;User Id=app;Password=${s(v.password().replace(/[;"]/g, "x"))};Encrypt=true"`,
  ],
  ["tfvars", (v) => join('region = "eu-north-1"', `db_password = "${s(v.password())}"`)],
  ["terraform-state", (v) => join('  "attributes": {', '    "engine": "postgres",', `    "master_password": "${s(v.made())}",`)],
  ["wp-config", (v) => `define('DB_PASSWORD', '${s(v.password())}');`],
  [
    "wp-salt",
    (v) =>
      `define( 'AUTH_KEY', '${s(v.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!@#$%^&*()-_ []{}<>~`+=,.;:/?|", 64))}' );`,
  ],
  [
    "django-secret-key",
    (v) => `SECRET_KEY = 'django-insecure-${s(v.text("abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)", 50))}'`,
  ],
  ["rails-master-key", (v) => `RAILS_MASTER_KEY=${s(v.hex(32))}`],
  ["laravel-app-key", (v) => `APP_KEY=base64:${s(v.base64(32))}`],
  ["flask-secret", (v) => `app.config["SECRET_KEY"] = "${s(v.hex(48))}"`],
  ["nextauth-secret", (v) => `NEXTAUTH_SECRET="${s(v.base64(32))}"`],
  ["wifi-psk", (v) => join("network={", `    ssid="${v.word()}-5G"`, `    psk="${s(v.chosen())}"`, "}")],
  ["wireguard-conf", (v) => join("[Interface]", `PrivateKey = ${s(v.base64(32))}`, "Address = 10.8.0.2/24")],
  ["redis-requirepass", (v) => `requirepass ${s(v.password())}`],
  ["rclone-conf", (v) => join("[box]", "type = sftp", `pass = ${s(v.urlsafe(38))}`)],
  ["s3cfg", (v) => join(`access_key = ${s(v.awsId())}`, `secret_key = ${s(v.awsSecret())}`)],
  ["boto-config", (v) => join("[Credentials]", `gs_secret_access_key = ${s(v.awsSecret())}`)],
];

export const files = table.map(([name, make]) => ({ name, kind: "credentials and configuration files", make }));
