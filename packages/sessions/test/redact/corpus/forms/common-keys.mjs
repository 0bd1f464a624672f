import { hide as s } from "../values.mjs";
import {
  anthropic,
  arrow,
  b64,
  bare,
  cat,
  commonForms,
  ec,
  fine,
  gitlab,
  google,
  hf,
  inUrl,
  lines,
  numbered,
  openai,
  openssh,
  pem,
  pkcs8,
  rsa,
  sendgrid,
  shell,
  slackBot,
  start,
  stripe,
} from "./common-parts.mjs";

/** Tokens, keys and addresses that leak most often, by someone who had seen neither the rules nor the corpus. */
export const commonKeys = commonForms({
  // --- tokens of services ---
  "env openai": (v) => `# .env\nPORT=3000\nOPENAI_API_KEY=${s(openai(v))}\nOPENAI_MODEL=gpt-4o-mini\n`,
  "env anthropic quoted": (v) => `ANTHROPIC_API_KEY="${s(anthropic(v))}"\nLOG_LEVEL=debug`,
  "export github": (v) => `export GITHUB_TOKEN=${s(v.github("ghp_"))}\ngh api user --jq .login`,
  "github clone url": (v) => `git clone https://x-access-token:${s(v.github("ghs_"))}@github.com/acme/${v.word()}.git`,
  "github remote": (v) =>
    `origin\thttps://${s(v.github("gho_"))}@github.com/acme/web.git (fetch)\norigin\thttps://github.com/acme/web.git (push)`,
  "github fine grained prose": (v) => `Use this fine-grained token for the PR: ${s(fine(v))} — it expires on Friday.`,
  "gitlab header": (v) => `curl --header "PRIVATE-TOKEN: ${s(gitlab(v))}" "https://gitlab.example.com/api/v4/projects/42/issues"`,
  "slack bot js": (v) => `const { WebClient } = require('@slack/web-api');\nconst client = new WebClient('${s(slackBot(v))}');`,
  "slack webhook": (v) =>
    `curl -X POST -H 'Content-type: application/json' --data '{"text":"deployed"}' https://hooks.slack.com/services/T${v.upnum(10)}/B${v.upnum(10)}/${s(v.alnum(24))}`,
  "slack app env": (v) =>
    `SLACK_APP_TOKEN=${s(`xapp-1-A${v.upnum(10)}-${v.digits(13)}-${v.hex(64)}`)}\nSLACK_SIGNING_SECRET=${s(v.hex(32))}\nSLACK_CHANNEL=C${v.upnum(10)}`,
  "discord webhook": (v) => `DISCORD_WEBHOOK_URL=https://discord.com/api/webhooks/${v.digits(19)}/${s(v.urlsafe(68))}`,
  "discord bot": (v) => `client.login("${s(`MT${v.alnum(24)}.G${v.alnum(5)}.${v.urlsafe(38)}`)}");`,
  "telegram bot": (v) => `curl -s "https://api.telegram.org/bot${s(`${v.digits(10)}:AA${v.urlsafe(33)}`)}/getUpdates"`,
  "stripe env": (v) =>
    `STRIPE_SECRET_KEY=${s(stripe(v))}\nSTRIPE_WEBHOOK_SECRET=${s(`whsec_${v.alnum(32)}`)}\nSTRIPE_PRICE_ID=price_1${v.alnum(23)}`,
  "stripe curl user": (v) => `curl https://api.stripe.com/v1/charges -u ${s(stripe(v, "test"))}: -d amount=2000 -d currency=usd`,
  "stripe restricted": (v) => `stripe.api_key = "${s(`rk_live_51${v.alnum(97)}`)}"`,
  twilio: (v) =>
    `from twilio.rest import Client\n\naccount_sid = "AC${v.hex(32)}"\nauth_token = "${s(v.hex(32))}"\nclient = Client(account_sid, auth_token)`,
  sendgrid: (v) => `sgMail.setApiKey("${s(sendgrid(v))}")`,
  mailgun: (v) =>
    `curl -s --user 'api:${s(`key-${v.hex(32)}`)}' https://api.mailgun.net/v3/mg.example.com/messages -F to=a@example.com`,
  "google api key url": (v) => `GET https://maps.googleapis.com/maps/api/geocode/json?address=Berlin&key=${s(google(v))} 403`,
  "firebase config": (v) =>
    `const firebaseConfig = {\n  apiKey: "${s(google(v))}",\n  authDomain: "shop-${v.hex(5)}.firebaseapp.com",\n  projectId: "shop-${v.hex(5)}",\n};`,
  "google oauth client": (v) =>
    `{"web":{"client_id":"${v.digits(12)}-${v.lownum(32)}.apps.googleusercontent.com","project_id":"acme","client_secret":"${s(`GOCSPX-${v.urlsafe(28)}`)}","redirect_uris":["http://localhost:3000/cb"]}}`,
  huggingface: (v) => `huggingface-cli login --token ${s(hf(v))}\nToken is valid (permission: read).`,
  "replicate and groq": (v) => `REPLICATE_API_TOKEN=r8_${s(v.alnum(37))}\nGROQ_API_KEY=${s(`gsk_${v.alnum(52)}`)}`,
  "openrouter json": (v) =>
    `{\n  "provider": "openrouter",\n  "apiKey": "${s(`sk-or-v1-${v.hex(64)}`)}",\n  "model": "deepseek/deepseek-chat"\n}`,
  "deepseek old style": (v) => `client = OpenAI(api_key="${s(`sk-${v.hex(32)}`)}", base_url="https://api.deepseek.com")`,
  digitalocean: (v) => `doctl auth init -t ${s(`dop_v1_${v.hex(64)}`)}`,
  cloudflare: (v) => `CLOUDFLARE_API_TOKEN=${s(v.urlsafe(40))} npx wrangler deploy`,
  "cloudflare global key": (v) =>
    `curl https://api.cloudflare.com/client/v4/zones -H "X-Auth-Email: ops@example.com" -H "X-Auth-Key: ${s(v.hex(37))}"`,
  heroku: (v) => `HEROKU_API_KEY=${s(v.uuid())} heroku ps -a web`,
  vercel: (v) => `vercel deploy --prod --token=${s(v.alnum(24))}`,
  netlify: (v) => `NETLIFY_AUTH_TOKEN: ${s(`nfp_${v.alnum(36)}`)}\nNETLIFY_SITE_ID: ${v.uuid()}`,
  fly: (v) => `fly secrets set DATABASE_PASSWORD='${s(bare(v))}' SESSION_KEY=${s(v.hex(64))} -a web`,
  supabase: (v) => `NEXT_PUBLIC_SUPABASE_URL=https://${v.lownum(20)}.supabase.co\nSUPABASE_SERVICE_ROLE_KEY=${s(v.jwt())}`,
  datadog: (v) => `DD_API_KEY=${s(v.hex(32))} DD_SITE="datadoghq.eu" bash -c "$(curl -L https://install.example.com/agent7.sh)"`,
  newrelic: (v) => `new_relic:\n  app_name: Shop\n  license_key: '${s(`${v.hex(36)}NRAL`)}'\n  log_level: info`,
  sentry: (v) => `[auth]\ntoken=${s(`sntrys_${v.alnum(120)}_${v.alnum(43)}`)}\n\n[defaults]\norg=acme`,
  "linear and notion": (v) =>
    `LINEAR_API_KEY=${s(`lin_api_${v.alnum(40)}`)}\nNOTION_TOKEN=${s(`ntn_${v.digits(11)}${v.alnum(35)}`)}`,
  "mcp settings": (v) =>
    JSON.stringify(
      {
        mcpServers: {
          github: {
            command: "npx",
            args: ["-y", "@modelcontextprotocol/server-github"],
            env: { GITHUB_PERSONAL_ACCESS_TOKEN: s(v.github("ghp_")) },
          },
          search: { command: "npx", args: ["-y", "brave"], env: { BRAVE_API_KEY: s(`BSA${v.urlsafe(28)}`) } },
        },
      },
      null,
      2,
    ),
  shopify: (v) =>
    `SHOPIFY_API_KEY=${s(v.hex(32))}\nSHOPIFY_API_SECRET=${s(`shpss_${v.hex(32)}`)}\nSHOPIFY_ACCESS_TOKEN=${s(`shpat_${v.hex(32)}`)}`,
  atlassian: (v) =>
    `curl -u dev@example.com:${s(`ATATT3xFfGF0${v.urlsafe(171)}=${v.hex(8).toUpperCase()}`)} https://acme.atlassian.net/rest/api/3/myself`,
  "pulumi terraform cloud": (v) =>
    `credentials "app.terraform.io" {\n  token = "${s(`${v.alnum(14)}.atlasv1.${v.alnum(67)}`)}"\n}\n# PULUMI_ACCESS_TOKEN=${s(`pul-${v.hex(40)}`)}`,
  vault: (v) =>
    `export VAULT_ADDR=https://vault.example.com:8200\nexport VAULT_TOKEN=${s(`hvs.${v.urlsafe(92)}`)}\nvault kv get secret/web`,
  grafana: (v) => `curl -H "Authorization: Bearer ${s(`glsa_${v.alnum(32)}_${v.hex(8)}`)}" http://localhost:3000/api/org`,
  databricks: (v) => `[DEFAULT]\nhost = https://adb-${v.digits(16)}.7.azuredatabricks.net\ntoken = ${s(`dapi${v.hex(32)}-2`)}`,
  "airtable postman": (v) =>
    `AIRTABLE_PAT=${s(`pat${v.alnum(14)}.${v.hex(64)}`)}\nPOSTMAN_API_KEY=${s(`PMAK-${v.hex(24)}-${v.hex(34)}`)}`,
  algolia: (v) => `const client = algoliasearch("${v.upnum(10)}", "${s(v.hex(32))}"); // admin key`,
  "figma asana": (v) => `FIGMA_TOKEN=${s(`figd_${v.urlsafe(40)}`)}\nJIRA_API_TOKEN=${s(v.alnum(24))}`,

  // --- clouds ---
  "aws credentials file": (v) =>
    `[default]\naws_access_key_id = ${s(v.awsId())}\naws_secret_access_key = ${s(v.awsSecret())}\n\n[staging]\naws_access_key_id=${s(v.awsId())}\naws_secret_access_key=${s(v.awsSecret())}\nregion=eu-west-1`,
  "aws exports": (v) =>
    `export AWS_ACCESS_KEY_ID="${s(v.awsId("ASIA"))}"\nexport AWS_SECRET_ACCESS_KEY="${s(v.awsSecret())}"\nexport AWS_SESSION_TOKEN="${s(`IQoJb3JpZ2luX2Vj${v.base64(420)}`)}"`,
  "aws sts json": (v) =>
    JSON.stringify(
      {
        Credentials: {
          AccessKeyId: s(v.awsId("ASIA")),
          SecretAccessKey: s(v.awsSecret()),
          SessionToken: s(`FwoGZXIvYXdzE${v.base64(360)}`),
          Expiration: "2025-03-01T12:00:00+00:00",
        },
        AssumedRoleUser: { Arn: `arn:aws:sts::${v.digits(12)}:assumed-role/ci/run` },
      },
      null,
      4,
    ),
  "aws create access key": (v) =>
    `$ aws iam create-access-key --user-name ci\n{\n    "AccessKey": {\n        "UserName": "ci",\n        "AccessKeyId": "${s(v.awsId())}",\n        "Status": "Active",\n        "SecretAccessKey": "${s(v.awsSecret())}",\n        "CreateDate": "2025-02-11T09:14:03+00:00"\n    }\n}`,
  "aws configure prompts": (v) =>
    `$ aws configure\nAWS Access Key ID [None]: ${s(v.awsId())}\nAWS Secret Access Key [None]: ${s(v.awsSecret())}\nDefault region name [None]: us-east-1`,
  "aws boto3": (v) =>
    `s3 = boto3.client(\n    "s3",\n    aws_access_key_id="${s(v.awsId())}",\n    aws_secret_access_key="${s(v.awsSecret())}",\n    region_name="us-east-1",\n)`,
  "aws sdk js": (v) =>
    `const s3 = new S3Client({ region: 'us-east-1', credentials: { accessKeyId: '${s(v.awsId())}', secretAccessKey: '${s(v.awsSecret())}' } });`,
  "aws secretsmanager": (v) =>
    `{\n    "ARN": "arn:aws:secretsmanager:us-east-1:${v.digits(12)}:secret:prod/db-${v.alnum(6)}",\n    "Name": "prod/db",\n    "SecretString": "{\\"username\\":\\"app\\",\\"password\\":\\"${s(bare(v))}\\",\\"host\\":\\"${v.host()}\\"}"\n}`,
  "aws ssm": (v) =>
    `{"Parameter": {"Name": "/prod/db/password", "Type": "SecureString", "Value": "${s(bare(v))}", "Version": 3}}`,
  "aws presigned": (v) =>
    `https://acme-uploads.s3.amazonaws.com/a.zip?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20250301T120000Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Signature=${s(v.hex(64))}`,
  "gcp service account": (v) =>
    `{\n  "type": "service_account",\n  "project_id": "acme-prod",\n  "private_key_id": "${s(v.hex(40))}",\n  "private_key": "-----BEGIN PRIVATE KEY-----\\n${lines(pkcs8(v)).join("\\n")}\\n-----END PRIVATE KEY-----\\n",\n  "client_email": "ci@acme-prod.iam.gserviceaccount.com",\n  "client_id": "${v.digits(21)}"\n}`,
  "gcloud print token": (v) => `$ gcloud auth print-access-token\n${s(`ya29.a0A${v.urlsafe(200)}`)}`,
  "gcp adc": (v) =>
    `{\n  "account": "",\n  "client_id": "${v.digits(12)}-${v.lownum(32)}.apps.googleusercontent.com",\n  "client_secret": "${s(`d-${v.urlsafe(22)}`)}",\n  "refresh_token": "${s(`1//0${v.urlsafe(98)}`)}",\n  "type": "authorized_user"\n}`,
  "azure sp": (v) =>
    `$ az ad sp create-for-rbac --name ci\n{\n  "appId": "${v.uuid()}",\n  "displayName": "ci",\n  "password": "${s(`${v.alnum(3)}8Q~${v.urlsafe(34)}`)}",\n  "tenant": "${v.uuid()}"\n}`,
  "azure storage connection": (v) =>
    `AZURE_STORAGE_CONNECTION_STRING="DefaultEndpointsProtocol=https;AccountName=acmefiles;AccountKey=${s(v.base64(64))};EndpointSuffix=core.windows.net"`,
  "azure env": (v) =>
    `AZURE_CLIENT_ID=${v.uuid()}\nAZURE_TENANT_ID=${v.uuid()}\nAZURE_CLIENT_SECRET=${s(`${v.alnum(3)}8Q~${v.urlsafe(34)}`)}\nAZURE_OPENAI_API_KEY=${s(v.hex(32))}`,
  "azure sas": (v) =>
    `azcopy copy out.zip "https://acme.blob.core.windows.net/b/out.zip?sv=2022-11-02&ss=b&srt=co&sp=rwl&se=2025-12-31T00:00:00Z&sig=${s(encodeURIComponent(v.base64(32)))}"`,
  "azure servicebus": (v) =>
    `"ServiceBus": "Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=${s(v.base64(32))}"`,

  // --- private keys ---
  "key rsa whole": (v) => pem("RSA PRIVATE KEY", rsa(v)).join("\n"),
  "key pkcs8 cat": (v) => `$ cat server.key\n${pem("PRIVATE KEY", pkcs8(v)).join("\n")}\n$`,
  "key openssh": (v) => `$ cat ~/.ssh/id_ed25519\n${openssh(v).join("\n")}`,
  "key ec": (v) => pem("EC PRIVATE KEY", ec(v)).join("\n"),
  "key cat -n": (v) => numbered(pem("RSA PRIVATE KEY", rsa(v)), 1, cat),
  "key arrow numbers": (v) => numbered(openssh(v), 1, arrow),
  "key head": (v) => `$ head -5 certs/dev.pem\n${pem("RSA PRIVATE KEY", rsa(v)).slice(0, 5).join("\n")}`,
  "key tail": (v) => `$ tail -n 6 certs/dev.pem\n${pem("PRIVATE KEY", pkcs8(v)).slice(-6).join("\n")}`,
  "key middle cut": (v) => {
    const all = pem("RSA PRIVATE KEY", rsa(v));
    return `${all.slice(0, 6).join("\n")}\n... [14 lines truncated] ...\n${all.slice(-6).join("\n")}`;
  },
  "key tail numbered": (v) => numbered(pem("RSA PRIVATE KEY", rsa(v)).slice(-8), 19, cat),
  "key env escaped": (v) =>
    `GITHUB_APP_PRIVATE_KEY="-----BEGIN RSA PRIVATE KEY-----\\n${lines(rsa(v)).join("\\n")}\\n-----END RSA PRIVATE KEY-----\\n"`,
  "key yaml block": (v) =>
    `tls:\n  enabled: true\n  key: |\n${pem("PRIVATE KEY", pkcs8(v))
      .map((one) => `    ${one}`)
      .join("\n")}\n  port: 8443`,
  "key in python": (v) =>
    `PRIVATE_KEY = """${pem("EC PRIVATE KEY", ec(v)).join("\n")}"""\n\ndef sign(data):\n    return jwt.encode(data, PRIVATE_KEY, algorithm="ES256")`,
  "key base64 env": (v) =>
    `SSH_PRIVATE_KEY_B64=${s(b64(`-----BEGIN EC PRIVATE KEY-----\n${ec(v).join("\n")}\n-----END EC PRIVATE KEY-----\n`))}`,
  "key diff": (v) =>
    `--- a/key.pem\n+++ /dev/null\n@@ -1,5 +0,0 @@\n${pem("EC PRIVATE KEY", ec(v))
      .map((one) => `-${one}`)
      .join("\n")}`,
  "key heredoc": (v) => `cat > ~/.ssh/deploy_key << 'EOF'\n${openssh(v).join("\n")}\nEOF\nchmod 600 ~/.ssh/deploy_key`,
  "key encrypted": (v) =>
    `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,${v.hex(32).toUpperCase()}\n\n${lines(v.body(1192)).join("\n")}\n-----END RSA PRIVATE KEY-----`,
  "key pgp": (v) =>
    `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${lines(start(v.body(900), "lQOYBG")).join("\n")}\n=${v.alnum(4)}\n-----END PGP PRIVATE KEY BLOCK-----`,
  "key wireguard": (v) =>
    `[Interface]\nPrivateKey = ${s(v.base64(32))}\nAddress = 10.0.0.2/24\n\n[Peer]\nPresharedKey = ${s(v.base64(32))}\nEndpoint = vpn.example.com:51820`,
  "key age": (v) => `# created: 2025-01-10T10:00:00Z\n${s(`AGE-SECRET-KEY-1${v.upnum(58)}`)}`,

  // --- database URLs and DSNs ---
  "url postgres env": (v) => `DATABASE_URL=postgresql://${v.user()}:${s(inUrl(v))}@${v.host()}:5432/shop?sslmode=require`,
  "url mysql python": (v) =>
    `engine = create_engine("mysql+pymysql://${v.user()}:${s(inUrl(v))}@localhost:3306/shop", pool_pre_ping=True)`,
  "url mongo srv": (v) =>
    `mongoose.connect('mongodb+srv://${v.user()}:${s(inUrl(v))}@cluster0.${v.lownum(5)}.mongodb.net/shop?retryWrites=true&w=majority')`,
  "url redis": (v) =>
    `REDIS_URL=redis://:${s(inUrl(v))}@${v.host()}:6379/0\nCELERY_BROKER_URL=amqp://guest2:${s(inUrl(v))}@mq:5672//`,
  "dsn adonet": (v) =>
    `"ConnectionStrings": {\n  "Default": "Server=tcp:acme.database.windows.net,1433;Database=shop;User ID=sa;Password=${s(bare(v))};Encrypt=True;"\n}`,
  "dsn go mysql": (v) =>
    `dsn := "${v.user()}:${s(shell(v))}@tcp(127.0.0.1:3306)/shop?parseTime=true"\ndb, err := sql.Open("mysql", dsn)`,
  "dsn libpq": (v) => `conn = psycopg2.connect("host=${v.host()} port=5432 dbname=shop user=app password=${s(shell(v))}")`,
  "dsn jdbc": (v) =>
    `spring.datasource.url=jdbc:postgresql://db:5432/shop?user=app&password=${s(inUrl(v))}\nspring.jpa.hibernate.ddl-auto=none`,
  "dsn php pdo": (v) => `$pdo = new PDO('mysql:host=localhost;dbname=shop', 'root', '${s(bare(v))}');`,
  "url in log": (v) =>
    `2025-03-01 12:00:01,223 ERROR sqlalchemy: could not connect to postgres://${v.user()}:${s(inUrl(v))}@10.0.3.7/shop: timeout expired`,
  "url smtp proxy": (v) =>
    `EMAIL_URL=smtp://mailer:${s(inUrl(v))}@smtp.example.com:587\nHTTPS_PROXY=http://proxyuser:${s(inUrl(v))}@proxy.corp:3128`,
});
