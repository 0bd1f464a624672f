import { entropy } from "./hit.js";

/** A token that shows its kind by its beginning. */
export interface TokenShape {
  readonly kind: string;
  /** What a stretch of text must hold to be looked at; none of these ends in what JSON escapes make (`\n`). */
  readonly signs: readonly string[];
  readonly pattern: RegExp;
  readonly accept?: (token: string) => boolean;
}

/** Where a token may begin: not inside a word, but after an escaped line end of JSON text (`\n` before it). */
const START = "(?:(?<![A-Za-z0-9_-])|(?<=\\\\[nrtbf]))";
const END = "(?![A-Za-z0-9_-])";

const shape = (kind: string, signs: readonly string[], body: string, accept?: (token: string) => boolean): TokenShape => ({
  kind,
  signs,
  pattern: new RegExp(`${START}(?:${body})${END}`, "g"),
  ...(accept === undefined ? {} : { accept }),
});

/** `sk-` begins many things: a key is long, has digits and capitals, and no regular pattern. */
const isOpenAiKey = (token: string): boolean => /\d/.test(token) && /[A-Z]|or-v1/.test(token) && entropy(token) > 3.5;

/** Tokens whose issuers gave them a shape of their own. */
export const TOKEN_SHAPES: readonly TokenShape[] = [
  shape("jwt", ["eyJ"], "eyJ[A-Za-z0-9_-]{10,4000}\\.eyJ[A-Za-z0-9_-]{10,8000}\\.[A-Za-z0-9_-]{20,2000}"),
  shape("aws-key", ["AKIA", "ASIA", "ABIA", "ACCA"], "(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
  shape("github-token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "gh[pousr]_[A-Za-z0-9]{36,255}"),
  shape("github-token", ["github_pat_"], "github_pat_[A-Za-z0-9_]{36,255}"),
  shape("gitlab-token", ["glpat-", "gldt-", "glrt-", "glcbt-"], "gl(?:pat|dt|rt|cbt)-[A-Za-z0-9_-]{20,64}"),
  shape("anthropic-key", ["sk-ant-"], "sk-ant-[A-Za-z0-9_-]{24,200}"),
  shape("openai-key", ["sk-"], "sk-(?!ant-)(?:(?:proj|svcacct|admin|or-v1)-)?[A-Za-z0-9_-]{20,200}", isOpenAiKey),
  shape("google-key", ["AIza"], "AIza[A-Za-z0-9_-]{35}"),
  shape("google-oauth", ["ya29.", "GOCSPX-"], "ya29\\.[A-Za-z0-9_-]{20,400}|GOCSPX-[A-Za-z0-9_-]{28}"),
  shape("slack-token", ["xox", "xapp-"], "xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-\\d-[A-Za-z0-9-]{10,250}"),
  shape("slack-webhook", ["hooks.slack.com"], "(?:https://)?hooks\\.slack\\.com/(?:services|workflows)/[A-Za-z0-9/]{40,80}"),
  shape("stripe-key", ["_live_", "_test_", "whsec_"], "(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,128}|whsec_[A-Za-z0-9]{32,64}"),
  shape("npm-token", ["npm_"], "npm_[A-Za-z0-9]{36}"),
  shape("pypi-token", ["pypi-"], "pypi-AgE[A-Za-z0-9_-]{50,400}"),
  shape("hugging-face-token", ["hf_"], "hf_[A-Za-z0-9]{34,40}"),
  shape("sendgrid-key", ["SG."], "SG\\.[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}"),
  shape("telegram-token", [":AA"], "\\d{8,10}:AA[A-Za-z0-9_-]{33}"),
  shape(
    "discord-webhook",
    ["/api/webhooks/"],
    "https://(?:canary\\.|ptb\\.)?discord(?:app)?\\.com/api/webhooks/\\d{15,20}/[A-Za-z0-9_-]{60,80}",
  ),
  shape("digitalocean-token", ["dop_v1_", "doo_v1_", "dor_v1_"], "do[opr]_v1_[a-f0-9]{64}"),
  shape("databricks-token", ["dapi"], "dapi[a-f0-9]{32}(?:-\\d)?"),
  shape("vault-token", ["hvs.", "hvb."], "hv[sb]\\.[A-Za-z0-9_-]{24,300}"),
  shape("docker-token", ["dckr_pat_"], "dckr_pat_[A-Za-z0-9_-]{27}"),
  shape("shopify-token", ["shpat_", "shpss_", "shpca_", "shppa_"], "shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}"),
  shape("linear-key", ["lin_api_"], "lin_api_[A-Za-z0-9]{40}"),
  shape(
    "model-api-key",
    ["gsk_", "pplx-", "xai-", "r8_"],
    "gsk_[A-Za-z0-9]{48,60}|pplx-[A-Za-z0-9]{48}|xai-[A-Za-z0-9]{60,90}|r8_[A-Za-z0-9]{37}",
  ),
  shape("age-key", ["AGE-SECRET-KEY-1"], "AGE-SECRET-KEY-1[A-Z0-9]{58}"),
];
