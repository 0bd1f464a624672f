import { hide as s } from "../values.mjs";

const join = (...lines) => lines.join("\n");
const b64 = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64");
/** Passwords that a shell or an address takes as they are; none begins with a sign. */
const word = (v) => v.password().replace(/[^A-Za-z0-9_.]/g, "x");

/** What programs print about themselves, their settings and what they have just made. */
const output = [
  ["null-separated-environ", (v) => `LANG=C\u0000APP_SECRET=${s(v.alnum(40))}\u0000HOME=/app\u0000`],
  ["ps-java-property", (v) => `app   4127  1.2  6.0 java -Xmx512m -Dspring.datasource.password=${s(word(v))} -jar app.jar`],
  [
    "heroku-config",
    (v) =>
      join("=== shop-api Config Vars", "NODE_ENV:        production", `SESSION_SECRET:  ${s(v.hex(64))}`, "WEB_CONCURRENCY: 2"),
  ],
  [
    "powershell-env-table",
    (v) =>
      join(
        "Name                           Value",
        `API_TOKEN                      ${s(v.alnum(40))}`,
        "OS                             Windows_NT",
      ),
  ],
  ["shell-trace", (v) => join("+ cd /app", `+ export DEPLOY_TOKEN=${s(v.alnum(36))}`, "+ make deploy")],
  ["phpinfo-server", (v) => `$_SERVER['DB_PASSWORD'] => ${s(v.password())}`],
  [
    "aws-assume-role-json",
    (v) =>
      join(
        '"Credentials": {',
        `    "AccessKeyId": "${s(v.awsId("ASIA"))}",`,
        `    "SecretAccessKey": "${s(v.awsSecret())}",`,
        `    "SessionToken": "${s(`FwoGZXIvYXdzE${v.base64(240)}`)}"`,
        "}",
      ),
  ],
  [
    "aws-get-secret-value",
    (v) => `"Name": "prod/db", "SecretString": "{\\"username\\":\\"app\\",\\"password\\":\\"${s(v.alnum(24))}\\"}"`,
  ],
  [
    "aws-ssm-parameter",
    (v) => `"Name": "/prod/db/password", "Type": "SecureString", "Value": "${s(v.made().replaceAll('"', "x"))}"`,
  ],
  [
    "vault-kv-get",
    (v) => join("====== Data ======", "Key         Value", "---         -----", `password    ${s(word(v))}`, "username    app"),
  ],
  ["vault-operator-init", (v) => join(`Unseal Key 1: ${s(v.base64(33))}`, `Unseal Key 2: ${s(v.base64(33))}`)],
  ["az-create-for-rbac", (v) => join(`  "appId": "${v.uuid()}",`, `  "password": "${s(`${v.alnum(3)}8Q~${v.urlsafe(34)}`)}",`)],
  ["az-storage-keys", (v) => `{"keyName": "key1", "permissions": "FULL", "value": "${s(v.base64(64))}"}`],
  [
    "kubectl-decoded-secret",
    (v) =>
      join(
        "$ kubectl -n argocd get secret argocd-initial-admin-secret -o jsonpath='{.data.password}' | base64 -d",
        s(v.alnum(16)),
      ),
  ],
  [
    "git-credential-fill",
    (v) => join("protocol=https", "host=git.acme.dev", `username=${v.user()}`, `password=${s(v.alnum(26))}`),
  ],
  ["mysql-temporary-password", (v) => `[Server] A temporary password is generated for root@localhost: ${s(v.made(12, 14))}`],
  [
    "jenkins-first-password",
    (v) =>
      join("Please use the following password to proceed to installation:", "", s(v.hex(32)), "", "This may also be found at:"),
  ],
  ["jupyter-address", (v) => `    http://127.0.0.1:8888/lab?token=${s(v.hex(48))}`],
  ["minio-banner", (v) => join(`RootUser: ${v.user()}`, `RootPass: ${s(v.made())}`)],
];

const commands = [
  ["sudo-from-echo", (v) => `echo ${s(word(v))} | sudo -S apt-get install -y jq`],
  ["mysqladmin-new-password", (v) => `mysqladmin -u root password '${s(v.password())}'`],
  ["smbclient-percent", (v) => `smbclient //${v.host()}/media -U ${v.user()}%${s(word(v))} -c ls`],
  ["lftp-user", (v) => `lftp -u ${v.user()},${s(word(v))} sftp://${v.host()} -e 'mirror dist; quit'`],
  [
    "az-login-principal",
    (v) => `az login --service-principal -u ${v.uuid()} -p ${s(`${v.alnum(3)}8Q~${v.alnum(34)}`)} --tenant ${v.uuid()}`,
  ],
  ["helm-set-password", (v) => `helm upgrade --install db bitnami/postgresql --set auth.postgresPassword=${s(word(v))} --wait`],
  [
    "kubectl-docker-registry",
    (v) => `kubectl create secret docker-registry pull --docker-username=${v.user()} --docker-password=${s(word(v))}`,
  ],
  ["terraform-var", (v) => `terraform apply -auto-approve -var="db_password=${s(word(v))}"`],
  ["ansible-extra-vars", (v) => `ansible-playbook site.yml -e "ansible_become_password=${s(word(v))}"`],
  ["kubeadm-join", (v) => `kubeadm join 10.0.0.2:6443 --token ${s(`${v.lownum(6)}.${v.lownum(16)}`)}`],
  ["ngrok-authtoken", (v) => `ngrok config add-authtoken ${s(`2${v.alnum(26)}_${v.alnum(21)}`)}`],
  ["cloudflared-token", (v) => `cloudflared service install ${s(b64({ a: v.hex(32), t: v.uuid(), s: v.base64(36) }))}`],
  ["gpg-passphrase", (v) => `gpg --batch --yes --passphrase '${s(v.password())}' -c backup.tar`],
  ["seven-zip-password", (v) => `7z x backup.7z -p${s(word(v))} -oout`],
  ["fly-secrets-set", (v) => `${v.pick(["fly secrets set", "heroku config:set"])} SESSION_SECRET=${s(v.hex(64))} --app shop`],
  ["wrangler-secret-pipe", (v) => `echo "${s(v.alnum(40))}" | npx wrangler secret put API_TOKEN`],
  ["vault-kv-put", (v) => `vault kv put secret/shop/db username=app password=${s(word(v))}`],
  ["rabbitmq-add-user", (v) => `rabbitmqctl add_user ${v.user()} ${s(word(v))}`],
  ["redis-prompt-auth", (v) => join(`127.0.0.1:6379> AUTH ${v.user()} ${s(word(v))}`, "OK")],
  ["freerdp", (v) => `xfreerdp /v:${v.host()} /u:${v.user()} /p:${s(word(v))} /cert:ignore`],
  ["expect-send", (v) => join('expect "assword:"', `send "${s(word(v))}\\r"`)],
  ["sqlplus-slash", (v) => `sqlplus ${v.user()}/${s(word(v))}@${v.host()}:1521/ORCL`],
  ["powershell-secure-string", (v) => `$p = ConvertTo-SecureString "${s(v.chosen().replaceAll("$", "x"))}" -AsPlainText -Force`],
  [
    "aws-configure-prompt",
    (v) => join(`AWS Access Key ID [None]: ${s(v.awsId())}`, `AWS Secret Access Key [None]: ${s(v.awsSecret())}`),
  ],
  ["nmcli-wifi", (v) => `nmcli device wifi connect ${v.word()}-5G password ${s(word(v))}`],
  [
    "notarytool-password",
    (v) =>
      `xcrun notarytool submit a.zip --team-id ${v.upnum(10)} --password ${s([1, 2, 3, 4].map(() => v.lownum(4)).join("-"))}`,
  ],
  ["poetry-http-basic", (v) => `poetry config http-basic.acme ${v.user()} ${s(word(v))}`],
  ["borg-passphrase", (v) => `BORG_PASSPHRASE='${s(v.password())}' borg list ssh://${v.host()}/./repo`],
];

const connections = [
  ["sqlserver-jdbc", (v) => `jdbc:sqlserver://${v.host()}:1433;databaseName=shop;user=sa;password=${s(word(v))};encrypt=true`],
  ["oracle-thin", (v) => `jdbc:oracle:thin:${v.user()}/${s(word(v))}@//${v.host()}:1521/ORCLPDB1`],
  ["cosmos-account-key", (v) => `AccountEndpoint=https://${v.word()}.documents.azure.com:443/;AccountKey=${s(v.base64(64))};`],
  ["go-mysql-dsn", (v) => `sql.Open("mysql", "${v.user()}:${s(word(v))}@tcp(${v.host()}:3306)/shop?parseTime=true")`],
  [
    "kafka-jaas",
    (v) =>
      `sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="app" password="${s(word(v))}";`,
  ],
  ["proxy-environment", (v) => `HTTPS_PROXY=http://${v.user()}:${s(word(v))}@proxy.acme.dev:3128`],
  ["odbc-escaped", (v) => `mssql+pyodbc:///?odbc_connect=SERVER%3D${v.word()}%3BUID%3Dsa%3BPWD%3D${s(word(v))}%3BEncrypt%3Dyes`],
  ["libsql-auth-token", (v) => `libsql://shop-${v.word()}.turso.io?authToken=${s(v.jwt())}`],
];

const headers = [
  ["okta-ssws", (v) => `Authorization: SSWS ${s(`00${v.urlsafe(40)}`)}`],
  ["elastic-api-key", (v) => `Authorization: ApiKey ${s(b64(`${v.urlsafe(20)}:${v.urlsafe(22)}`))}`],
  ["har-header", (v) => `{"name": "Authorization", "value": "Bearer ${s(v.urlsafe(43))}"}, {"name": "Accept", "value": "*/*"}`],
  ["netscape-cookie-file", (v) => `.acme.dev\tTRUE\t/\tTRUE\t17${v.digits(8)}\tsessionid\t${s(v.lownum(32))}`],
  [
    "next-auth-cookie",
    (v) =>
      `Cookie: __Secure-next-auth.session-token=${s(`${b64({ alg: "dir", enc: "A256GCM" }).replaceAll("=", "")}..${v.urlsafe(16)}.${v.urlsafe(180)}.${v.urlsafe(22)}`)}`,
  ],
  ["signed-express-cookie", (v) => `Set-Cookie: connect.sid=s%3A${s(v.urlsafe(32))}.${s(v.alnum(43))}; Path=/; HttpOnly`],
  ["nginx-upstream-basic", (v) => `proxy_set_header Authorization "Basic ${s(b64(`${v.user()}:${v.made()}`))}";`],
  ["goog-api-key-header", (v) => `-H 'x-goog-api-key: ${s(`AI${"za"}${v.urlsafe(35)}`)}' -H 'content-type: application/json'`],
];

const of = (kind, table) => table.map(([name, make]) => ({ name, kind, make }));

export const secondLines = [
  ...of("environment and process output", output),
  ...of("command lines", commands),
  ...of("connection strings", connections),
  ...of("headers and cookies", headers),
];
