import { hide as s } from "../values.mjs";

const join = (...lines) => lines.join("\n");
const b64 = (text) => Buffer.from(text).toString("base64");
/** Passwords without signs that end a value in the file's own grammar. */
const word = (v) => v.password().replace(/[^A-Za-z0-9_]/g, "x");

const agents = [
  [
    "claude-credentials-json",
    (v) =>
      join(
        "{",
        '  "claudeAiOauth": {',
        `    "accessToken": "${s(`sk-${"ant-"}oat01-${v.urlsafe(93)}AA`)}",`,
        `    "refreshToken": "${s(`sk-${"ant-"}ort01-${v.urlsafe(93)}AA`)}",`,
        `    "expiresAt": 17${v.digits(11)}`,
        "  }",
        "}",
      ),
  ],
  [
    "codex-auth-json",
    (v) => `{"tokens": {"access_token": "${s(v.jwt("RS256"))}", "refresh_token": "${s(`rt_${v.urlsafe(84)}`)}"}}`,
  ],
  [
    "mcp-servers-env",
    (v) =>
      join(
        '"mcpServers": {',
        '  "search": {',
        '    "command": "npx",',
        '    "args": ["-y", "search-mcp"],',
        `    "env": { "BRAVE_API_KEY": "${s(`BSA${v.urlsafe(28)}`)}" }`,
        "  }",
        "}",
      ),
  ],
  [
    "mcp-servers-argument",
    (v) => `"wiki": { "command": "uvx", "args": ["mcp-wiki", "--confluence-token", "${s(v.alnum(44))}", "--read-only"] }`,
  ],
  ["modal-toml", (v) => join("[default]", `token_id = "ak-${v.alnum(22)}"`, `token_secret = "${s(`as-${v.alnum(22)}`)}"`)],
  ["vscode-settings", (v) => join('"editor.tabSize": 2,', `"openai.apiKey": "${s(v.alnum(48))}",`)],
];

const tools = [
  ["kaggle-json", (v) => `{"username":"${v.word()}${v.other()}","key":"${s(v.hex(32))}"}`],
  [
    "databricks-oauth-cfg",
    (v) => join("[DEFAULT]", `client_id     = ${v.uuid()}`, `client_secret = ${s(`do${"se"}${v.hex(32)}`)}`),
  ],
  ["minio-client-json", (v) => `"local": {"url": "http://minio:9000", "accessKey": "${v.word()}", "secretKey": "${s(word(v))}"}`],
  ["yarnrc-yml", (v) => join("npmScopes:", "  acme:", `    npmAuthToken: ${s(v.urlsafe(40))}`)],
  ["bundle-config", (v) => join("---", `BUNDLE_GEMS__ACME__DEV: "${v.user()}:${s(v.hex(40))}"`)],
  ["sbt-credentials", (v) => `credentials += Credentials("Nexus", "${v.host()}", "${v.user()}", "${s(v.made())}")`],
  ["subversion-auth", (v) => join("K 8", "password", "V 14", s(v.alnum(14)), "K 15", "svn:realmstring")],
  ["sentryclirc", (v) => join("[auth]", `token=${s(v.hex(64))}`)],
  ["condarc-channel", (v) => join("channels:", `  - https://conda.acme.dev/t/${s(`ac-${v.uuid()}`)}/main`)],
  ["terraformrc", (v) => join('credentials "tf.acme.dev" {', `  token = "${s(v.alnum(48))}"`, "}")],
  ["filezilla-sites", (v) => join(`<User>${v.user()}</User>`, `<Pass encoding="base64">${s(b64(v.made()))}</Pass>`)],
];

const services = [
  ["pgbouncer-userlist", (v) => join("; userlist.txt", `"${v.user()}" "${s(v.password())}"`)],
  ["redis-acl-line", (v) => `user ${v.user()} on >${s(word(v))} ~* +@all`],
  ["redis-sentinel", (v) => join("sentinel monitor main 10.0.0.5 6379 2", `sentinel auth-pass main ${s(word(v))}`)],
  ["postgres-standby", (v) => `primary_conninfo = 'host=10.0.0.5 user=replicator password=${s(word(v))} application_name=b'`],
  ["postfix-sasl", (v) => join("# sasl_passwd", `[smtp.acme.dev]:587 ${v.user()}:${s(word(v))}`)],
  ["msmtprc", (v) => join("account  work", `user     ${v.user()}`, `password ${s(v.password())}`)],
  ["fstab-cifs", (v) => `//${v.host()}/media /mnt/media cifs username=${v.user()},password=${s(word(v))},uid=1000 0 0`],
  ["hostapd", (v) => join(`ssid=${v.word()}-net`, "wpa=2", `wpa_passphrase=${s(v.chosen())}`)],
  ["ipsec-psk", (v) => `203.0.113.${v.between(1, 200)} : PSK "${s(v.made(20, 32))}"`],
  ["alertmanager", (v) => join("global:", "  smtp_auth_username: alerts", `  smtp_auth_password: '${s(v.password())}'`)],
  ["pagerduty-routing-key", (v) => join("pagerduty_configs:", `  - routing_key: ${s(v.hex(32))}`, "    severity: critical")],
  [
    "prometheus-basic-auth",
    (v) => join("basic_auth:", `  username: ${v.user()}`, `  password: ${s(v.made())}`, "  scheme: https"),
  ],
  ["supervisord", (v) => `environment=PORT="80",APP_SECRET="${s(v.alnum(32))}",LANG="C"`],
  [
    "esphome-api-key",
    (v) => join("api:", "  encryption:", `    key: "${s(v.base64(32))}"`, "ota:", `  password: "${s(v.hex(32))}"`),
  ],
  ["erlang-cookie", (v) => join("-name node@10.0.0.5", `-setcookie ${s(v.upper(20))}`)],
];

const deployment = [
  [
    "ansible-inventory",
    (v) => `web1 ansible_host=10.0.0.7 ansible_user=${v.user()} ansible_password=${s(word(v))} ansible_port=22`,
  ],
  ["cloud-init-chpasswd", (v) => join("#cloud-config", "chpasswd:", "  list: |", `    root:${s(word(v))}`, "  expire: false")],
  ["kickstart", (v) => join("lang en_US.UTF-8", `rootpw --plaintext ${s(v.password().replace(/[#\s]/g, "x"))}`)],
  ["preseed", (v) => `d-i passwd/user-password password ${s(word(v))}`],
  [
    "unattend-xml",
    (v) => `<AdministratorPassword><Value>${s(v.chosen())}</Value><PlainText>true</PlainText></AdministratorPassword>`,
  ],
  ["pulumi-stack-plain", (v) => join("config:", "  aws:region: eu-north-1", `  shop:dbPassword: ${s(v.made())}`)],
  [
    "terraform-provider-key",
    (v) => join('provider "datadog" {', `  api_key = "${s(v.hex(32))}"`, `  app_key = "${s(v.hex(40))}"`, "}"),
  ],
  ["cloudformation-parameters", (v) => `{"ParameterKey": "DBMasterPassword", "ParameterValue": "${s(v.made())}"}`],
  [
    "docker-config-secret-yaml",
    (v) => {
      const auth = b64(`${v.user()}:${v.alnum(20)}`);
      const config = b64(JSON.stringify({ auths: { "registry.acme.dev": { auth } } }));
      return join("type: kubernetes.io/dockerconfigjson", "data:", `  .dockerconfigjson: ${s(config)}`);
    },
  ],
  ["kustomize-literals", (v) => join("secretGenerator:", "- name: db", "  literals:", `  - password=${s(word(v))}`)],
];

const applications = [
  ["jpa-persistence", (v) => `<property name="jakarta.persistence.jdbc.password" value="${s(v.password())}"/>`],
  ["aspnet-machine-key", (v) => `<machineKey validationKey="${s(v.hex(128).toUpperCase())}" decryption="AES" />`],
  ["magento-env", (v) => join("'crypt' => [", `    'key' => '${s(v.hex(32))}'`, "],")],
  ["drupal-hash-salt", (v) => `$settings['hash_salt'] = '${s(v.urlsafe(74))}';`],
  ["joomla-configuration", (v) => join(`\tpublic $user = '${v.user()}';`, `\tpublic $password = '${s(v.password())}';`)],
  ["phoenix-endpoint", (v) => join("config :shop, ShopWeb.Endpoint,", `  secret_key_base: "${s(v.base64(48))}"`)],
  ["android-signing", (v) => join(`    storePassword "${s(word(v))}"`, `    keyPassword "${s(v.password())}"`)],
];

const all = [...agents, ...tools, ...services, ...deployment, ...applications];
export const secondFiles = all.map(([name, make]) => ({ name, kind: "credentials and configuration files", make }));
