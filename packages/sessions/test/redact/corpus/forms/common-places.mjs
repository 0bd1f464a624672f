import { hide as s } from "../values.mjs";
import {
  anthropic,
  arrow,
  b64,
  bare,
  commonForms,
  gitlab,
  inUrl,
  npm,
  numbered,
  openai,
  pypi,
  rsa,
  shell,
  stripe,
} from "./common-parts.mjs";

/** Settings, commands, code and texts that secrets leak by most often, by the same. */
export const commonPlaces = commonForms({
  // --- settings files ---
  compose: (v) =>
    `services:\n  db:\n    image: postgres:16\n    environment:\n      POSTGRES_USER: app\n      POSTGRES_PASSWORD: ${s(bare(v))}\n  web:\n    environment:\n      - DB_PASSWORD=${s(bare(v))}\n      - NODE_ENV=production`,
  "k8s secret": (v) =>
    `apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  username: ${b64("app")}\n  password: ${s(b64(v.password()))}\nstringData:\n  api-token: ${s(v.alnum(32))}`,
  "k8s env": (v) =>
    `        env:\n        - name: DB_PASSWORD\n          value: "${s(bare(v))}"\n        - name: PORT\n          value: "8080"`,
  "helm values": (v) =>
    `postgresql:\n  auth:\n    username: app\n    password: ${s(bare(v))}\n    postgresPassword: "${s(bare(v))}"\nredis:\n  auth: {enabled: true, password: '${s(bare(v))}'}`,
  "helm set": (v) =>
    `helm upgrade --install web ./chart --set image.tag=1.4.2 --set auth.password=${s(shell(v))} --set-string apiKey=${s(v.alnum(32))}`,
  "terraform tfvars": (v) => `region      = "eu-central-1"\ndb_password = "${s(bare(v))}"\napi_token   = "${s(v.key(40))}"`,
  "terraform resource": (v) =>
    `resource "aws_db_instance" "main" {\n  engine   = "postgres"\n  username = "app"\n  password = "${s(bare(v))}"\n}`,
  "terraform output": (v) =>
    `$ terraform output -json\n{\n  "db_password": {\n    "sensitive": true,\n    "type": "string",\n    "value": "${s(bare(v))}"\n  },\n  "vpc_id": {\n    "sensitive": false,\n    "type": "string",\n    "value": "vpc-${v.hex(17)}"\n  }\n}`,
  ini: (v) => `[database]\nhost = ${v.host()}\nuser = app\npassword = ${s(bare(v))}\n\n[smtp]\nsmtp_pass=${s(bare(v))}`,
  properties: (v) =>
    `spring.datasource.username=app\nspring.datasource.password=${s(bare(v))}\njwt.secret=${s(v.key(48))}\nserver.port=8080`,
  xml: (v) =>
    `<servers>\n  <server>\n    <id>nexus</id>\n    <username>deploy</username>\n    <password>${s(bare(v))}</password>\n  </server>\n</servers>`,
  "web.config": (v) =>
    `<appSettings>\n  <add key="ApiKey" value="${s(v.key(32))}" />\n  <add key="SmtpPassword" value="${s(bare(v))}" />\n  <add key="Theme" value="dark" />\n</appSettings>`,
  toml: (v) => `[server]\nport = 8080\n\n[auth]\nsecret_key = "${s(v.key(50))}"\nadmin_password = '${s(bare(v))}'`,
  "appsettings json": (v) =>
    `{\n  "Jwt": { "Issuer": "acme", "SigningKey": "${s(v.key(44))}" },\n  "Smtp": { "Host": "smtp.example.com", "User": "mailer", "Password": "${s(bare(v))}" }\n}`,
  "env framework secrets": (v) =>
    `APP_KEY=base64:${s(v.base64(32))}\nSECRET_KEY_BASE=${s(v.hex(128))}\nNEXTAUTH_SECRET=${s(v.base64(32))}\nJWT_SECRET=${s(bare(v))}\nSESSION_SECRET='${s(bare(v))}'`,
  "wp-config": (v) =>
    `define( 'DB_USER', 'wp' );\ndefine( 'DB_PASSWORD', '${s(bare(v))}' );\ndefine( 'AUTH_KEY', '${s(v.alnum(64))}' );`,
  "rails database.yml": (v) => `production:\n  adapter: postgresql\n  username: shop\n  password: ${s(bare(v))}\n  pool: 5`,

  // --- CI ---
  "ci github workflow": (v) =>
    `jobs:\n  deploy:\n    runs-on: ubuntu-latest\n    env:\n      API_TOKEN: ${s(v.key(36))}\n      NPM_TOKEN: \${{ secrets.NPM_TOKEN }}\n    steps:\n      - run: ./deploy.sh --token ${s(v.github("ghp_"))}`,
  "ci gitlab yml": (v) =>
    `variables:\n  DOCKER_HOST: tcp://docker:2375\n  REGISTRY_PASSWORD: "${s(bare(v))}"\nscript:\n  - docker login -u ci -p ${s(gitlab(v))} registry.example.com`,
  "ci log": (v) =>
    `2025-03-01T12:00:02.1192837Z ##[group]Run npm publish\n2025-03-01T12:00:02.1193001Z env:\n2025-03-01T12:00:02.1193100Z   NODE_AUTH_TOKEN: ${s(npm(v))}\n2025-03-01T12:00:02.1193200Z ##[endgroup]`,
  "ci shell trace": (v) =>
    `+ export DEPLOY_KEY=${s(v.key(32))}\n+ DEPLOY_KEY=${s(v.key(32))}\n+ curl -fsS -H 'X-Api-Key: ${s(v.key(32))}' https://deploy.example.com/hook\n+ echo done`,

  // --- tool config ---
  npmrc: (v) =>
    `registry=https://registry.example/\n//registry.example/:_authToken=${s(npm(v))}\n//npm.acme.dev/:_password=${s(b64(`${v.word()}${v.alnum(12)}`))}\nalways-auth=true`,
  pypirc: (v) =>
    `[pypi]\nusername = __token__\npassword = ${s(pypi(v))}\n\n[internal]\nrepository = https://pypi.acme.dev\nusername = ci\npassword = ${s(bare(v))}`,
  "docker config": (v) =>
    `{\n\t"auths": {\n\t\t"https://index.docker.io/v1/": {\n\t\t\t"auth": "${s(b64(`acme:${v.made(16, 24)}`))}"\n\t\t}\n\t}\n}`,
  netrc: (v) =>
    `machine github.com login octo password ${s(v.github("ghp_"))}\nmachine api.heroku.com\n  login dev@example.com\n  password ${s(v.uuid())}`,
  "git credentials": (v) =>
    `$ cat ~/.git-credentials\nhttps://octo:${s(v.github("ghp_"))}@github.com\nhttps://oauth2:${s(gitlab(v))}@gitlab.com`,
  kubeconfig: (v) =>
    `users:\n- name: admin\n  user:\n    client-certificate-data: ${b64("-----BEGIN CERTIFICATE-----\nMIIB")}\n    client-key-data: ${s(b64(`-----BEGIN RSA PRIVATE KEY-----\n${rsa(v).join("\n")}\n-----END RSA PRIVATE KEY-----\n`))}\n- name: bot\n  user:\n    token: ${s(v.jwt("RS256"))}`,
  "pip conf": (v) => `[global]\nindex-url = https://ci:${s(inUrl(v))}@pypi.acme.dev/simple\ntimeout = 60`,
  "my.cnf pgpass": (v) =>
    `# ~/.my.cnf\n[client]\nuser=root\npassword=${s(bare(v))}\n\n# ~/.pgpass\n${v.host()}:5432:shop:app:${s(shell(v))}`,
  "gh hosts": (v) => `github.com:\n    user: octo\n    oauth_token: ${s(v.github("gho_"))}\n    git_protocol: https`,
  "cargo credentials": (v) => `[registry]\ntoken = "${s(`cio${v.alnum(32)}`)}"`,

  // --- HTTP ---
  "http bearer jwt": (v) =>
    `GET /api/me HTTP/1.1\nHost: api.example.com\nAuthorization: Bearer ${s(v.jwt())}\nAccept: application/json`,
  "http basic": (v) =>
    `> POST /login HTTP/1.1\n> Authorization: Basic ${s(b64(`admin:${v.password()}`))}\n> User-Agent: curl/8.4.0`,
  "http cookies": (v) =>
    `Cookie: theme=dark; sessionid=${s(v.lownum(32))}; csrftoken=${s(v.alnum(32))}\nSet-Cookie: connect.sid=s%3A${s(v.urlsafe(32))}.${s(v.alnum(43))}; Path=/; HttpOnly`,
  "http api key headers": (v) =>
    `headers = {"x-api-key": "${s(v.key(40))}", "X-Auth-Token": "${s(v.key(32))}", "Content-Type": "application/json"}`,
  "query tokens": (v) =>
    `GET /v1/items?page=2&api_key=${s(v.key(32))}&sort=asc 200 12ms\nGET /cb?code=${s(v.urlsafe(43))}&state=ok&access_token=${s(v.urlsafe(48))} 302`,
  "login response": (v) =>
    `$ curl -s localhost:8000/login -d '{"email":"a@example.com","password":"${s(bare(v))}"}'\n{"access_token":"${s(v.jwt())}","refresh_token":"${s(v.urlsafe(64))}","token_type":"bearer","expires_in":3600}`,
  "oauth token request": (v) =>
    `curl -X POST https://auth.example.com/oauth/token -d grant_type=client_credentials -d client_id=${v.alnum(32)} -d client_secret=${s(v.urlsafe(64))}`,
  "password grant form": (v) =>
    `POST /token\nContent-Type: application/x-www-form-urlencoded\n\ngrant_type=password&username=admin&password=${s(inUrl(v))}`,

  // --- command lines ---
  "cmd curl user": (v) => `curl -u admin:'${s(bare(v))}' https://jenkins.example.com/job/web/build`,
  "cmd httpie wget": (v) =>
    `http -a admin:${s(shell(v))} GET https://api.example.com/users\nwget --user=ftp1 --password='${s(bare(v))}' https://files.example.com/a.zip`,
  "cmd mysql": (v) =>
    `mysql -h ${v.host()} -u root -p${s(shell(v))} shop -e 'show tables'\nmysqldump --user=root --password=${s(shell(v))} shop > dump.sql`,
  "cmd psql": (v) => `PGPASSWORD='${s(bare(v))}' psql -h ${v.host()} -U app -d shop -c 'select 1'`,
  "cmd redis mongo": (v) =>
    `redis-cli -h ${v.host()} -a ${s(shell(v))} ping\nmongosh --host ${v.host()} -u admin -p ${s(shell(v))} --authenticationDatabase admin`,
  "cmd sshpass": (v) => `sshpass -p '${s(bare(v))}' ssh -o StrictHostKeyChecking=no root@10.0.0.5 uptime`,
  "cmd docker": (v) =>
    `docker login -u acme -p ${s(`dckr_pat_${v.urlsafe(27)}`)}\ndocker run -d -e POSTGRES_PASSWORD=${s(shell(v))} -e TZ=UTC -p 5432:5432 postgres:16`,
  "cmd stdin pipes": (v) =>
    `echo '${s(v.github("ghp_"))}' | docker login ghcr.io -u octo --password-stdin\necho "${s(shell(v))}" | sudo -S systemctl restart nginx`,
  "cmd openssl": (v) =>
    `openssl enc -aes-256-cbc -d -in a.enc -out a -pass pass:${s(shell(v))}\nopenssl pkcs12 -export -in c.pem -inkey k.pem -out k.p12 -passout pass:${s(shell(v))}`,
  "cmd kubectl secret": (v) =>
    `kubectl create secret generic db --from-literal=username=app --from-literal=password='${s(bare(v))}'`,
  "cmd gh secret": (v) => `gh secret set NPM_TOKEN --body "${s(npm(v))}"\ntwine upload -u __token__ -p ${s(pypi(v))} dist/*`,
  "cmd keytool": (v) =>
    `keytool -importkeystore -srckeystore a.p12 -srcstorepass ${s(shell(v))} -destkeystore a.jks -deststorepass ${s(shell(v))}`,
  "cmd sql users": (v) =>
    `CREATE USER app WITH PASSWORD '${s(bare(v))}';\nALTER USER 'root'@'localhost' IDENTIFIED BY '${s(bare(v))}';`,
  "cmd chpasswd generated": (v) => `$ echo "deploy:${s(shell(v))}" | chpasswd\n$ openssl rand -hex 32\n${s(v.hex(64))}`,

  // --- code ---
  "code python constants": (v) => `API_KEY = "${s(v.key(32))}"\nDB_PASSWORD = '${s(bare(v))}'\nTIMEOUT = 30`,
  "code python dict": (v) =>
    `DATABASES = {\n    "default": {\n        "ENGINE": "django.db.backends.postgresql",\n        "USER": "app",\n        "PASSWORD": "${s(bare(v))}",\n        "HOST": "localhost",\n    }\n}\nSECRET_KEY = "django-insecure-${s(v.alnum(50))}"`,
  "code python fallback": (v) =>
    `token = os.environ.get("API_TOKEN", "${s(v.key(40))}")\npassword = os.getenv('DB_PASS') or '${s(bare(v))}'`,
  "code js": (v) =>
    `const apiKey = "${s(v.key(32))}";\nconst pool = new Pool({ user: "app", password: "${s(bare(v))}", port: 5432 });\nconst secret = process.env.JWT_SECRET || '${s(bare(v))}';`,
  "code ts": (v) =>
    `export const config: Config = {\n  clientId: "web",\n  clientSecret: "${s(v.key(40))}",\n  jwtSecret: process.env.JWT_SECRET ?? "${s(bare(v))}",\n};`,
  "code go": (v) =>
    `const apiToken = "${s(v.key(40))}"\n\ncfg := Config{User: "app", Password: "${s(bare(v))}", Port: 5432}\nreq.SetBasicAuth("admin", "${s(bare(v))}")`,
  "code java": (v) =>
    `private static final String API_SECRET = "${s(v.key(40))}";\n\nDriverManager.getConnection("jdbc:mysql://localhost/shop", "root", "${s(bare(v))}");\nprops.put("password", "${s(bare(v))}");`,
  "code ruby": (v) =>
    `Client.configure do |c|\n  c.access_token = ENV.fetch("TOKEN", "${s(v.key(36))}")\n  c.password = '${s(bare(v))}'\nend`,
  "code php": (v) =>
    `return [\n    'username' => 'root',\n    'password' => '${s(bare(v))}',\n    'key' => env('APP_KEY', '${s(v.alnum(32))}'),\n];\n$apiKey = "${s(v.key(32))}";`,
  "code csharp": (v) =>
    `private const string ApiKey = "${s(v.key(32))}";\nvar cred = new NetworkCredential("admin", "${s(bare(v))}");`,
  "code rust": (v) =>
    `const API_KEY: &str = "${s(v.key(40))}";\nlet password = std::env::var("DB_PASS").unwrap_or_else(|_| "${s(bare(v))}".to_string());`,
  "code shell": (v) =>
    `#!/usr/bin/env bash\nset -euo pipefail\nDB_PASS='${s(bare(v))}'\nTOKEN="\${TOKEN:-${s(v.key(32))}}"\ncurl -H "Authorization: Bearer $TOKEN" "$URL"`,
  "code test": (v) =>
    `test("logs in", async () => {\n  const res = await login({ email: "real@example.com", password: "${s(bare(v))}" });\n  expect(res.status).toBe(200);\n});`,
  "code requests auth": (v) =>
    `r = requests.get(url, auth=("admin", "${s(bare(v))}"))\nr = requests.get(url, headers={"Authorization": "token ${s(v.github("ghp_"))}"})`,

  // --- logs, dumps, tools ---
  "env dump": (v) =>
    `$ env | sort\nHOME=/root\nLANG=C.UTF-8\nMYSQL_ROOT_PASSWORD=${s(bare(v))}\nPATH=/usr/bin:/bin\nSECRET_KEY=${s(v.key(50))}\nTERM=xterm`,
  "printenv json": (v) => JSON.stringify({ HOME: "/root", DB_PASSWORD: s(bare(v)), GH_TOKEN: s(v.github("gho_")), SHLVL: "1" }),
  traceback: (v) =>
    `Traceback (most recent call last):\n  File "/app/db.py", line 12, in connect\n    conn = connect(host="db", user="app", password="${s(bare(v))}")\npsycopg2.OperationalError: FATAL:  password authentication failed for user "app"`,
  "debug log": (v) =>
    `DEBUG:urllib3:send: b'GET /v1/me HTTP/1.1\\r\\nHost: api.example.com\\r\\nAuthorization: Bearer ${s(v.urlsafe(48))}\\r\\n\\r\\n'\nINFO config loaded: {'host': 'db', 'password': '${s(bare(v))}', 'port': 5432}`,
  "log key value": (v) => `time=2025-03-01T12:00:00Z level=debug msg="auth ok" user=app token=${s(v.key(32))} latency=12ms`,
  "python repr": (v) => `Settings(host='db', db_password='${s(bare(v))}', api_key='${s(v.key(32))}', debug=True)`,
  "invalid key error": (v) =>
    `openai.AuthenticationError: Error code: 401 - Incorrect API key provided: ${s(`sk-${v.alnum(48)}`)}. You can find your API key at the dashboard.`,
  "diff hunk": (v) =>
    `@@ -3,4 +3,4 @@ export default {\n   host: "db",\n-  password: "${s(bare(v))}",\n+  password: process.env.DB_PASSWORD,\n-  apiKey: '${s(v.key(32))}',\n   port: 5432,`,
  "grep output": (v) =>
    `$ grep -rn -i password .\n./.env:4:DB_PASSWORD=${s(bare(v))}\n./src/db.py:12:    password="${s(bare(v))}",\n./docs/a.md:9:Change your password often.`,
  ansi: (v) =>
    `\u001b[32m✔\u001b[0m \u001b[1mAPI_KEY\u001b[0m=\u001b[33m${s(v.key(32))}\u001b[0m\n\u001b[36mpassword\u001b[39m: \u001b[32m'${s(bare(v))}'\u001b[39m`,
  "rg ansi": (v) =>
    `\u001b[35m.env\u001b[0m:\u001b[32m3\u001b[0m:\u001b[1m\u001b[31mGITHUB_TOKEN\u001b[0m=${s(v.github("ghp_"))}`,
  "truncated openai": (v) => `OPENAI_API_KEY=${s(openai(v).slice(0, 60))}... (truncated)\n`,
  "truncated jwt": (v) => `Authorization: Bearer ${s(v.jwt().slice(0, 90))}…`,
  "sqlite table": (v) =>
    `id | email           | api_token\n---+-----------------+----------------------------------\n1  | a@example.com   | ${s(v.hex(32))}\n2  | b@example.com   | ${s(v.hex(32))}`,
  "user created": (v) =>
    `User admin created.\nUsername: admin\nPassword: ${s(bare(v))}\nPlease save it, it will not be shown again.`,
  "jenkins initial": (v) =>
    `Jenkins initial setup is required. Please use the following password to proceed to installation:\n\n${s(v.hex(32))}\n\nThis may also be found at: /var/jenkins_home/secrets/initialAdminPassword`,
  jupyter: (v) => `[I 12:00:01 ServerApp] http://localhost:8888/tree?token=${s(v.hex(48))}`,
  minio: (v) => `RootUser: minio1 \nRootPass: ${s(bare(v))} \nAPI: http://10.0.0.4:9000`,
  "file view env": (v) =>
    numbered(["NODE_ENV=production", `DB_PASSWORD=${s(bare(v))}`, `STRIPE_KEY=${s(stripe(v))}`, "PORT=80"], 1, arrow),
  "tool json": (v) =>
    JSON.stringify({
      content: [{ type: "text", text: `DB_HOST=db\nDB_PASSWORD="${s(shell(v))}"\nAPI_SECRET=${s(v.key(32))}\n` }],
    }),

  // --- prose ---
  "prose password": (v) => `Please log in to the staging box, my password is ${s(bare(v))} and the user is deploy.`,
  "prose here key": (v) => `here is the key: ${s(v.key(32))}\ncan you put it in the config?`,
  "prose credentials": (v) => `Credentials for the test account:\nlogin: qa@example.com\npass: ${s(bare(v))}`,
  "prose user slash": (v) => `Use username "admin" and password "${s(bare(v))}" for the admin page.`,
  "prose markdown": (v) => `The **API key** is \`${s(v.key(40))}\`, and the database password is \`${s(bare(v))}\`.`,
  "prose table": (v) =>
    `| Service | User | Password |\n|---|---|---|\n| Grafana | admin | ${s(bare(v))} |\n| Jenkins | ci | ${s(bare(v))} |`,
  "prose token bare": (v) => `I made a new token for you ${s(anthropic(v))} try again with it`,
  "prose wifi": (v) => `The sudo password for the build machine is: ${s(bare(v))}`,
  "prose german": (v) => `Das Passwort für die Datenbank lautet ${s(bare(v))} bitte trag es in die .env ein.`,
  "prose answer": (v) =>
    `I see that \`config.py\` hard-codes the password (\`${s(bare(v))}\`) and the secret key \`${s(v.key(40))}\`. I will move both to the environment.`,
});
