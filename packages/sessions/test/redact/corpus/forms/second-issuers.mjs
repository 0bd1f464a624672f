import { hide as s } from "../values.mjs";
import { around } from "./around.mjs";

const b64 = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64");
const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Tokens whose own shape says what they are: name, variable, generator. */
const shaped = [
  ["openai-admin-key", "OPENAI_ADMIN_KEY", (v) => `sk-${"admin-"}${v.urlsafe(58)}T3Bl${"bkFJ"}${v.urlsafe(58)}`],
  ["anthropic-refresh-token", "CLAUDE_REFRESH", (v) => `sk-${"ant-"}ort01-${v.urlsafe(93)}AA`],
  ["gemini-express-key", "GEMINI_API_KEY", (v) => `AQ${".Ab8"}${v.urlsafe(47)}`],
  ["together-key", "TOGETHER_API_KEY", (v) => `tgp_${"v1_"}${v.urlsafe(43)}`],
  ["jina-key", "JINA_API_KEY", (v) => `ji${"na_"}${v.hex(32)}${v.urlsafe(28)}`],
  ["llama-cloud-key", "LLAMA_CLOUD_API_KEY", (v) => `ll${"x-"}${v.alnum(48)}`],
  ["e2b-key", "E2B_API_KEY", (v) => `e2${"b_"}${v.hex(40)}`],
  ["cursor-key", "CURSOR_API_KEY", (v) => `ke${"y_"}${v.hex(64)}`],
  ["context7-key", "CONTEXT7_API_KEY", (v) => `ctx${"7sk-"}${v.uuid()}`],
  ["apify-token", "APIFY_TOKEN", (v) => `apify${"_api_"}${v.alnum(36)}`],
  ["gitlab-agent-token", "AGENT_TOKEN", (v) => `gl${"agent-"}${v.urlsafe(50)}`],
  ["gitlab-oauth-secret", "GITLAB_APP_SECRET", (v) => `gl${"oas-"}${v.hex(64)}`],
  ["bitbucket-repository-token", "BB_TOKEN", (v) => `AT${"CTT3"}${v.urlsafe(178)}=${v.upnum(8)}`],
  ["circleci-project-token", "CIRCLE_TOKEN", (v) => `CCI${"PRJ_"}${v.alnum(22)}_${v.hex(40)}`],
  ["azure-devops-long-pat", "AZURE_DEVOPS_PAT", (v) => `${v.alnum(52)}JQQJ99B${v.upnum(17)}${"AZ"}DO${v.alnum(4)}`],
  ["azure-openai-long-key", "AZURE_OPENAI_API_KEY", (v) => `${v.alnum(52)}JQQJ99B${v.upnum(17)}${"AC"}OG${v.alnum(4)}`],
  ["azure-functions-key", "FUNCTIONS_KEY", (v) => `${v.urlsafe(44)}Az${"Fu"}${v.alnum(6)}==`],
  ["tailscale-client-secret", "TS_OAUTH_SECRET", (v) => `tsk${"ey-client-"}k${v.alnum(11)}CNTRL-${v.alnum(32)}`],
  ["flyio-old-token", "FLY_API_TOKEN", (v) => `fo${"1_"}${v.urlsafe(43)}`],
  ["deno-deploy-token", "DENO_DEPLOY_TOKEN", (v) => `dd${"p_"}${v.alnum(36)}`],
  ["xata-key", "XATA_API_KEY", (v) => `xa${"u_"}${v.alnum(38)}`],
  ["atlas-service-secret", "MONGODB_ATLAS_SECRET", (v) => `mdb${"_sa_sk_"}${v.urlsafe(40)}`],
  ["axiom-token", "AXIOM_TOKEN", (v) => `xa${v.pick(["at", "pt"])}-${v.uuid()}`],
  ["honeycomb-ingest-key", "HONEYCOMB_API_KEY", (v) => `hca${"ik_"}01${v.lownum(56)}`],
  ["grafana-old-key", "GRAFANA_API_KEY", (v) => b64({ k: v.alnum(32), n: `${v.word()}-${v.other()}`, id: v.between(1, 9) })],
  ["infracost-key", "INFRACOST_API_KEY", (v) => `ic${"o-"}${v.alnum(32)}`],
  ["openshift-token", "OC_TOKEN", (v) => `sha${"256~"}${v.urlsafe(43)}`],
  ["swarm-join-token", "SWARM_TOKEN", (v) => `SWM${"TKN-1-"}${v.lownum(50)}-${v.lownum(25)}`],
  ["harness-pat", "HARNESS_API_KEY", (v) => `pa${"t."}${v.alnum(22)}.${v.hex(24)}.${v.alnum(20)}`],
  ["paddle-key", "PADDLE_API_KEY", (v) => `pdl_${"live_"}apikey_01${v.lownum(24)}_${v.alnum(22)}_${v.alnum(3)}`],
  ["mercado-pago-token", "MP_ACCESS_TOKEN", (v) => `APP${"_USR-"}${v.digits(16)}-${v.digits(6)}-${v.hex(32)}-${v.digits(9)}`],
  ["xendit-key", "XENDIT_SECRET_KEY", (v) => `xnd_${"production_"}${v.alnum(48)}`],
  ["square-application-secret", "SQUARE_SECRET", (v) => `sq0${"csp-"}${v.urlsafe(43)}`],
  ["shopify-custom-app-token", "SHOPIFY_ADMIN", (v) => `sh${"pca_"}${v.hex(32)}`],
  ["slack-refresh-token", "SLACK_REFRESH", (v) => `xo${"xe-1-"}My0x${v.alnum(142)}`],
  ["twitter-bearer", "TWITTER_BEARER_TOKEN", (v) => `${"A".repeat(21)}${v.alnum(28)}%2B${v.alnum(9)}%3D${v.alnum(42)}`],
  ["linkedin-secret", "LINKEDIN_CLIENT_SECRET", (v) => `WPL${"_AP1."}${v.alnum(16)}.${v.alnum(6)}==`],
  ["intercom-token", "INTERCOM_TOKEN", (v) => b64(`tok:${v.hex(8)}_${v.hex(4)}_${v.hex(4)}_${v.hex(4)}_${v.hex(12)}:1:0`)],
  ["firebase-server-key", "FCM_SERVER_KEY", (v) => `AAAA${v.urlsafe(7)}:APA${"91b"}${v.urlsafe(134)}`],
];

/** Tokens that need their name or the address around them. */
const named = [
  ["vault-old-token", (v) => `VAULT_TOKEN=${s(`s.${v.alnum(24)}`)}`],
  ["mandrill-key", (v) => `MANDRILL_API_KEY: ${s(`md-${v.urlsafe(22)}`)}`],
  ["mailgun-long-key", (v) => `MAILGUN_API_KEY=${s(`${v.hex(32)}-${v.hex(8)}-${v.hex(8)}`)}`],
  ["twitch-chat-token", (v) => `TWITCH_OAUTH=oauth:${s(v.lownum(30))}`],
  ["mollie-key", (v) => `mollie.setApiKey("${s(`live_${v.alnum(30)}`)}");`],
  ["convex-deploy-key", (v) => `CONVEX_DEPLOY_KEY=prod:${v.word()}-${v.other()}-${v.digits(3)}|${s(b64({ v2: v.hex(32) }))}`],
  ["bitcoin-wif", (v) => `wallet wif: ${s(`${v.pick(["K", "L"])}${v.text(BASE58, 51)}`)}`],
];

const inAddresses = [
  [
    "slack-workflow-trigger",
    (v) => `curl -X POST https://hooks.${"slack"}.com/triggers/T${v.upnum(10)}/${v.digits(13)}/${s(v.hex(32))} -d '{"a": "b"}'`,
  ],
  [
    "google-chat-webhook",
    (v) => {
      const room = `https://chat.google${"apis"}.com/v1/spaces/AAAA${v.urlsafe(7)}/messages`;
      return `${room}?key=${s(`AI${"za"}${v.urlsafe(35)}`)}&token=${s(`${v.urlsafe(43)}%3D`)}`;
    },
  ],
  ["infura-project-url", (v) => `RPC_URL=https://mainnet.infura.io/v3/${s(v.hex(32))}`],
  ["feishu-webhook", (v) => `"url": "https://open.feishu.cn/open-apis/bot/v2/hook/${s(v.uuid())}"`],
];

const of = (kind, table) => table.map(([name, make]) => ({ name, kind, make }));

export const secondIssuers = [
  ...shaped.map(([name, variable, make]) => ({
    name,
    kind: "issuers' tokens",
    bare: true,
    make: (v) => around(v, make(v), variable),
  })),
  ...of("issuers' tokens", named),
  ...of("tokens in addresses", inAddresses),
];
