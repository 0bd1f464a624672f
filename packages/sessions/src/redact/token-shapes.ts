import { escaped } from "./expressions.js";
import { isRandom } from "./words.js";

/** What a token is found by: a word, or the expression of a structure. */
interface Sign {
  readonly isLiteral: boolean;
  readonly word: string;
  readonly source: string;
}

/** A token that shows its kind by its beginning. */
export interface TokenShape {
  readonly kind: string;
  /** One of these stands in every such token. */
  readonly signs: readonly Sign[];
  readonly pattern: RegExp;
  readonly accept?: (token: string) => boolean;
}

/** Where a token may begin: not inside a word. */
const START = "(?<![A-Za-z0-9_-])";
const END = "(?![A-Za-z0-9_-])";

const signOf = (sign: string): Sign =>
  sign.startsWith("~")
    ? { isLiteral: false, word: "", source: sign.slice(1) }
    : { isLiteral: true, word: sign, source: escaped(sign) };

/** `signs` are literal beginnings, with spaces between; what begins with `~` is an expression. */
const shape = (kind: string, signs: string, body: string, accept?: (token: string) => boolean): TokenShape => ({
  kind,
  signs: signs.split(" ").map(signOf),
  pattern: new RegExp(`${START}(?:${body})${END}`, "g"),
  ...(accept === undefined ? {} : { accept }),
});

const UUID = "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}";
const W = "[A-Za-z0-9]";
const U = "[A-Za-z0-9_-]";
const B64 = "[A-Za-z0-9+/]";
const X = "[a-f0-9]";

const hasDigitAndLarge = (token: string): boolean => /\d/.test(token) && /[A-Z]/.test(token);
const isChance = (token: string): boolean => isRandom(token.replace(/^[a-z]{1,8}[-_.]/, ""));
/** `sk-` begins many things: a key is long, has digits and capitals or is hexadecimal, and holds few words. */
const isOpenAiKey = (token: string): boolean =>
  (/\d/.test(token) && (/[A-Z]/.test(token) || /^sk-(?:or-v1-|lf-)?[0-9a-f-]{32,}$/.test(token)) && isChance(token)) ||
  token.includes("T3BlbkFJ");
/** Characters that somebody counted up or repeated, unless the rest is drawn by chance. */
const COUNTED = /1234567\d*|abcdefg[a-z]*/g;
const isNoStandIn = (token: string): boolean =>
  !/x{6}|X{6}|EXAMPLE|([^A])\1{7}/.test(token) && (token.search(COUNTED) < 0 || isRandom(token.replaceAll(COUNTED, "")));

const CLOUD: readonly TokenShape[] = [
  shape("aws-key", "AKIA ASIA ABIA ACCA", "(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
  shape("aws-key", "ABSK", `ABSK${B64}{80,400}={0,2}`),
  shape("aws-key", "amzn.mws.", `amzn\\.mws\\.${UUID}`),
  shape("aws-key", "IQoJb3JpZ2lu FwoGZXIvYXdz", `(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)${B64}{80,2000}={0,2}`),
  shape("google-key", "AIza", `AIza${U}{35}`),
  shape("google-oauth", "ya29. GOCSPX-", `ya29\\.${U}{20,400}|GOCSPX-${U}{28}`),
  shape("google-oauth", "1//0", `1//0${U}{30,200}`),
  shape("azure-secret", "~\\dQ~", `[A-Za-z0-9_~.-]{3}\\dQ~[A-Za-z0-9_~.-]{31,34}`),
  shape("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", `do[opr]_v1_${X}{64}`),
  shape("cloud-token", "v1.0-", `v1\\.0-${X}{24}-${X}{100,200}`),
  shape("cloud-token", "LTAI", `LTAI${W}{12,20}`, isChance),
  shape("cloud-token", "AKID", `AKID${W}{32}`, hasDigitAndLarge),
  shape(
    "cloud-token",
    "fm2_ fm1r_ fm1a_ fo1_ FlyV1",
    `(?:FlyV1 )?(?:fm2|fm1r|fm1a|fo1)_[A-Za-z0-9+/=_-]{40,1000}(?:,fm2_[A-Za-z0-9+/=_-]{40,1000}){0,3}`,
  ),
  shape("cloud-token", "AQVN", `AQVN${U}{35,38}`),
  shape("cloud-token", "~\\bt1\\.\\w y0_", `t1\\.[A-Z0-9a-z_-]{50,300}={0,2}\\.[A-Z0-9a-z_-]{60,90}={0,2}|y0_${U}{40,80}`),
  shape("cloud-token", "HRKU-", `HRKU-(?:AA${U}{58}|${UUID})`),
  shape("cloud-token", "SCW", `SCW[A-Z0-9]{17}`, (token) => /\d/.test(token)),
  shape("cloud-token", "rnd_", `rnd_${W}{28,40}`, isChance),
  shape("cloud-token", "tskey-", `tskey-(?:auth|api|client|scim|webhook)?-?${W}{10,20}(?:CNTRL)?-${W}{20,50}`),
  shape("cloud-token", "vcp_ vck_ vci_ vca_ vcr_ vercel_blob_rw_", `vc[pkiar]_${W}{40,80}|vercel_blob_rw_${U}{30,80}`),
  shape("cloud-token", "nfp_ nfc_ nfo_ nfu_ nfb_", `nf[pcoub]_${W}{36,60}`),
  shape("cloud-token", "~\\bAPI-[A-Z0-9]{25}", `API-[A-Z0-9]{25,32}`, (token) => /\d/.test(token) && isChance(token)),
  shape("cloud-token", "dt0c01. dt0s", `dt0[a-z]\\d{2}\\.${W}{8,24}\\.${W}{64}`),
  shape("cloud-token", "tk-us-", `tk-us-${U}{48}`),
  shape("cloud-token", "dnkey-", `dnkey-${U}{26}-${U}{52}`),
  shape("content-token", "CFPAT-", `CFPAT-${U}{40,60}`),
  shape("cloud-token", "cfut_ cfat_ cfk_", `cf(?:ut|at|k)_${U}{36,60}`),
  shape("database-token", "pscale_", `pscale_(?:tkn|pw|oauth|app|otkn)_${U}{32,64}`),
  shape("database-token", "sbp_ sb_secret_", `sbp_(?:oauth_|v0_)?${X}{40}|sb_secret_${U}{20,60}`),
  shape("database-token", "napi_", `napi_${W}{40,80}`),
  shape("database-token", "npg_", `npg_${W}{10,40}`, isChance),
  shape("database-token", "dapi dkea dose", `d(?:api|kea|ose)${X}{32}(?:-\\d)?`),
  shape("vault-token", "hvs. hvb. hvr.", `hv[sbr]\\.${U}{24,300}`),
  shape("vault-token", "~\\bs\\.\\w{24}", `s\\.(?=[A-Za-z0-9]{0,23}\\d)(?=[A-Za-z0-9]{0,23}[A-Z])${W}{24}`, isChance),
  shape("vault-token", "ops_eyJ", `ops_eyJ[A-Za-z0-9_=+/-]{80,2000}`),
  shape("vault-token", "~\\bdp\\.[a-z]{2,5}\\.", `dp\\.(?:pt|st|ct|sa|scim|audit|said)\\.(?:[a-z0-9-]{2,35}\\.)?${W}{40,44}`),
  shape("vault-token", "~\\bst\\.[a-f0-9]{24}", `st\\.${X}{24}\\.${X}{32}\\.${X}{32}`),
  shape("terraform-token", ".atlasv1.", `${W}{14}\\.atlasv1\\.[A-Za-z0-9_=-]{60,90}`),
  shape("pulumi-token", "pul-", `pul-${X}{40}`),
  shape("vault-token", "A3-", `A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}`),
  shape("cloud-token", "p8e-", `p8e-[a-z0-9]{32}`, (token) => /\d/.test(token)),
  shape("cloud-token", "AZDO", `${W}{76}AZDO${W}{4}`),
  shape("cloud-token", "bedrock-api-key-", `bedrock-api-key-[A-Za-z0-9+/=_-]{20,2000}`),
  shape("cloud-token", "sha256~", `sha256~${U}{43}`),
  shape("cloud-token", "sm_aat_ sm_pat_ sm_sat_ ico- s-s4t2", `sm_[aps]at_${W}{16,40}|ico-${W}{32}|s-s4t2(?:ud|af)-${X}{64}`),
  shape(
    "cloud-token",
    "~\\b(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\\.",
    `(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\\.[a-z0-9]{4,6}\\.acc[_-][a-z0-9-]{10,32}\\.[a-z0-9+/_=-]{30,120}`,
  ),
  shape(
    "cloud-token",
    "~\\b[ps]at\\.[\\w-]{22}\\.",
    `[ps]at\\.${U}{22}\\.${X}{24}\\.${W}{20}|[ps]at\\.${U}{22}\\.${W}{24}\\.${W}{20}`,
  ),
  shape("cloud-token", "odt_ px-api- px-dep- _mmk", `odt_${W}{32,44}|px-(?:api|dep)-${UUID}|${W}{6}_${W}{29}_mmk`),
  shape("cloud-token", "~\\b00D[A-Za-z0-9]{12,15}!", `00D${W}{12,15}![A-Za-z0-9._]{80,120}`),
  shape("cloud-token", "~\\b\\d{1,3}-[A-Za-z0-9]{64}", `\\d{1,3}-${W}{64}`),
  shape("token", "~\\d\\|[A-Za-z0-9]{40}", `\\d{1,8}\\|${W}{40,48}`, hasDigitAndLarge),
  shape("database-token", "4b1d", `4b1d${W}{38}`, hasDigitAndLarge),
  shape("cloud-token", "~\\b00[A-Za-z0-9_-]{40}", `00${U}{40}`, (token) => hasDigitAndLarge(token) && isChance(token)),
  shape(
    "cloud-token",
    "AzFu AzSe AzCa ACDb +ACR +ASt AIoT APIM JQQJ99",
    `[A-Za-z0-9/+_-]{33,80}(?:AzFu|AzSe|AzCa|ACDb|\\+ACR|\\+ASt|AIoT|APIM|JQQJ99)${W}{5,40}={0,2}`,
    (token) => /\d/.test(token),
  ),
  shape("cloud-token", "SWMTKN-1-", `SWMTKN-1-[a-z0-9]{40,60}-[a-z0-9]{20,30}`),
  shape("model-api-key", "ctx7sk-", `ctx7sk-${UUID}`),
  shape("cloud-token", "cflt", `cflt[A-Za-z0-9+/]{60}`),
  shape("ci-token", "snyk_uat. snyk_sat.", `snyk_[us]at\\.[a-z0-9]{8}\\.${U}{40,400}(?:\\.${U}{20,400})?`),
  shape(
    "cloud-token",
    "essu_ ddp_ dbtc_ dbtu_ nbp_ akab-",
    `essu_[A-Za-z0-9+/=]{40,200}|ddp_${W}{36}|dbt[cu]_${U}{36,60}|nbp_${W}{36}|akab-[a-z0-9]{16}-[a-z0-9]{16}`,
  ),
  shape(
    "cloud-token",
    "~\\bEXO[a-f0-9]{24} ~\\bK00\\d ~\\bGOOG",
    `EXO[a-f0-9]{24}|K00\\d[A-Za-z0-9+/]{27}|GOOG(?:1E)?[A-Z0-9]{20,61}`,
    (token) => /\d/.test(token) && isChance(token),
  ),
  shape("cloud-token", "~\\b[12][A-Za-z0-9]{26}_", `[12]${W}{26}_${W}{20,22}`),
  shape(
    "monitoring-token",
    "glsa_ glc_ eyJrIjoi",
    `glsa_${W}{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2}|eyJrIjoi[A-Za-z0-9+/]{60,400}={0,2}`,
  ),
  shape(
    "monitoring-token",
    "NRAK- NRJS- NRII- NRIQ- NRRA- NRAL",
    `NR(?:AK|JS|II|IQ|RA|AA|BR)-${U}{19,42}|${X}{36}(?:NRAL|NRJS)|${X}{32}FFFFNRAL|eu01xx${X}{30}NRAL`,
  ),
  shape("monitoring-token", "sntrys_ sntryu_", `sntrys_[A-Za-z0-9+/=_]{60,500}|sntryu_${X}{64}`),
  shape("monitoring-token", "~\\b(?:sdk|api|mob)-[0-9a-f]{8}-", `(?:sdk|api|mob)-${UUID}`),
  shape("monitoring-token", "hcaik_ hcalk_ hcxik_ hcxlk_ hcbik_", `hc[abcx][il]k_${W}{50,64}`),
  shape("monitoring-token", "phc_ phx_ phs_", `ph[xs]_${W}{32,60}`),
];

const CODE: readonly TokenShape[] = [
  shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", `gh[pousr]_${W}{36,255}`),
  shape("github-token", "github_pat_", "github_pat_[A-Za-z0-9_]{36,255}"),
  shape(
    "gitlab-token",
    "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- glimt- glffct- gloas- glrtr- glwt-",
    `gl(?:pat|dt|rtr|rt|cbt|ptt|ft|soat|agent|imt|ffct|oas|wt)-(?:t\\d_)?[A-Za-z0-9_-]{18,80}(?:\\.[A-Za-z0-9]{2}\\.[A-Za-z0-9]{7,10})?`,
  ),
  shape("gitlab-token", "GR1348941", `GR1348941${U}{20,22}`),
  shape("bitbucket-token", "ATBB ATCTT3 ATATT3 ATSTT3", `ATBB${W}{28,40}|AT(?:CTT|ATT|STT)3x?F?f?${U}{60,300}(?:=[A-F0-9]{8})?`),
  shape("npm-token", "npm_", `npm_${W}{36}`),
  shape("pypi-token", "pypi-", `pypi-AgE${U}{50,400}`),
  shape(
    "package-token",
    "rubygems_ oy2 cio AKCp ~\\bcmVmd[A-Za-z0-9]{59} CLOJARS_ packagist_",
    `rubygems_${X}{48}|oy2[a-z0-9]{43}|cio${W}{32}|AKCp${W}{65,75}|cmVmd${W}{59}|CLOJARS_[a-z0-9]{60}|packagist_(?:org_)?[a-z0-9]{60,90}`,
    (token) => /\d/.test(token),
  ),
  shape("docker-token", "dckr_pat_ dckr_oat_", `dckr_[po]at_${U}{27,40}`),
  shape("ci-token", "CCIPAT_ CCIPRJ_", `CCI(?:PAT|PRJ)_${W}{20,24}_${X}{40}`),
  shape("ci-token", "bkua_ bkct_ bkpt_ bkaj_", `bk(?:ua|ct|pt|aj)_${W}{36,64}`),
  shape("ci-token", "sgp_ slk_ sgd_ sgs_", `sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}|s(?:lk|gd|gs)_${W}{40,80}`),
  shape("ci-token", "pnu_ pnb_", `pn[ub]_${W}{36}`),
  shape(
    "ci-token",
    "~\\b11[a-f0-9]{32} ~\\bperm[:-] ~\\bv2\\.[a-z0-9]{20}",
    `11${X}{32}|perm[:-][A-Za-z0-9=+/]{4,60}\\.[A-Za-z0-9=+/]{4,60}\\.[A-Za-z0-9=+/]{20,80}|v2\\.[a-z0-9]{20}`,
  ),
  shape("ci-token", "squ_ sqp_ sqa_", `sq[upa]_${X}{40}`),
  shape("ci-token", "PMAK- PMAT-", `PMA[KT]-(?:${X}{24}-${X}{34}|[A-Z0-9]{26})`),
  shape("ci-token", "figd_ figdr_ figu_ figur_ figo_ figor_ figoh_", `fig(?:dr?|ur?|or?h?)_${U}{38,60}`),
  shape("office-token", "ntn_ secret_", `ntn_\\d{8,14}${W}{32,40}|secret_(?=[A-Za-z]{0,42}\\d)${W}{43}`),
  shape("office-token", "~\\bpat[A-Za-z0-9]{14}\\. pat-na pat-eu", `pat${W}{14}\\.${X}{64}|pat-(?:na|eu)\\d-${UUID}`),
  shape("office-token", "~\\b[012]/\\d{10}", `[0-2]/\\d{10,17}(?:/\\d{10,17})?:${X}{32}`),
  shape("office-token", "pk_", `pk_\\d{6,9}_[A-Z0-9]{32}`),
  shape("office-token", "rdme_", `rdme_[a-z0-9]{70}`),
  shape("office-token", "lin_api_ lin_oauth_", `lin_(?:api|oauth)_${W}{40,64}`, (token) => /\d/.test(token)),
  shape("office-token", "ATTA", `ATTA${X}{72}`),
  shape("office-token", "~\\bsl\\.[\\w-]{40}", `sl\\.(?:u\\.)?${U}{120,1300}`),
  shape("office-token", "shct_", `shct_${W}{30,60}`),
];

const MODELS: readonly TokenShape[] = [
  shape("anthropic-key", "sk-ant-", `sk-ant-${U}{24,200}`),
  shape("openai-key", "sk- sess-", `(?:sk-(?!ant-)|sess-)(?:(?:proj|svcacct|admin|or-v1|lf|None)-)?${U}{20,200}`, isOpenAiKey),
  shape("hugging-face-token", "hf_ api_org_", `(?:hf_|api_org_)${W}{34,40}`),
  shape(
    "model-api-key",
    "gsk_ pplx- xai- r8_ nvapi- lsv2_ csk- fw_ esecret_ pcsk_ tvly- ~\\bfc-[a-f0-9]{32} e2b_ jina_ bb_live_ ~\\bpa-[\\w-]{43} wandb_v1_ tgp_v1_ ~\\ba[ks]-[A-Za-z0-9]{22} AQ.Ab8",
    `gsk_${W}{48,60}|pplx-${W}{48,56}|xai-${W}{60,90}|r8_${W}{37}|nvapi-${U}{60,70}|lsv2_(?:pt|sk)_${X}{32}_${X}{10}|csk-[a-z0-9]{40,60}` +
      `|fw_${W}{22,30}|esecret_${W}{24,40}|pcsk_[A-Za-z0-9_]{50,90}|tvly-(?:dev-|prod-)?${W}{28,40}|fc-${X}{32}|e2b_${X}{40}|jina_${U}{50,80}` +
      `|bb_live_${U}{24,40}|pa-${U}{43}|wandb_v1_${U}{40,90}|tgp_v1_${U}{40,50}|a[ks]-${W}{22}|AQ\\.Ab8${U}{40,60}`,
    (token) => /\d/.test(token),
  ),
  shape("model-api-key", "sk_", `sk_(?:car_)?(?:${X}{48}|${X}{40}|${X}{64})`),
];

const PEOPLE: readonly TokenShape[] = [
  shape("slack-token", "xox xapp-", `xox[abeoprs](?:\\.xox[bp])?-[A-Za-z0-9-]{10,250}|xapp-\\d-[A-Za-z0-9-]{10,250}`),
  shape(
    "slack-webhook",
    "hooks.slack.com",
    "(?:https://)?hooks\\.slack(?:-gov)?\\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_]{40,120}",
  ),
  shape(
    "webhook",
    "/api/webhooks/",
    `https://(?:canary\\.|ptb\\.)?discord(?:app)?\\.com/api/(?:v\\d+/)?webhooks/\\d{15,20}/${U}{60,80}`,
  ),
  shape(
    "webhook",
    "office.com/webhook",
    `https://[a-z0-9-]+\\.(?:webhook\\.)?office\\.com/webhook(?:b2)?/[A-Za-z0-9@/_-]{60,300}`,
  ),
  shape("webhook", "hooks.zapier.com", "https://hooks\\.zapier\\.com/hooks/(?:catch|standard)/\\d+/[a-z0-9/]{6,60}"),
  shape(
    "webhook",
    "chat.googleapis.com",
    `https://chat\\.googleapis\\.com/v1/spaces/[A-Za-z0-9_-]+/messages\\?key=${U}+&token=[A-Za-z0-9_%=-]+`,
  ),
  shape(
    "discord-token",
    "~\\b[MNO][\\w-]{23,27}\\.",
    `[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40}`,
    isChance,
  ),
  { ...shape("telegram-token", ":AA", ""), pattern: /(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])/g },
  shape("stripe-key", "_live_ _test_ _prod_ whsec_", `(?:sk|rk)_(?:live|test|prod)_${W}{10,250}|whsec_[A-Za-z0-9+/]{32,64}`),
  shape("square-token", "EAAA sq0", `EAAA${U}{22,64}|sq0(?:atp|csp|idp)-${U}{22,43}`),
  shape("facebook-token", "EAA", `EAA[A-Za-z0-9]{60,300}`, hasDigitAndLarge),
  shape("google-key", ":APA91b", `AAAA${U}{7}:APA91b${U}{130,150}`),
  shape("facebook-token", "~\\d{15,16}(?:\\||%7C)", `\\d{15,16}(?:\\||%7C)[0-9a-z_-]{27,40}`, (token) =>
    isChance(token.slice(17)),
  ),
  shape("payment-token", "access_token$", `access_token\\$(?:production|sandbox)\\$[a-z0-9]{16}\\$${X}{32}`),
  shape(
    "payment-token",
    "access-production- access-sandbox- access-development-",
    `access-(?:production|sandbox|development)-${UUID}`,
  ),
  shape("payment-token", "EZAK EZTK", `EZ[AT]K${W}{54}`),
  shape(
    "payment-token",
    "shippo_ rzp_ FLWSECK duffel_ plaid-",
    `shippo_(?:live|test)_[a-fA-F0-9]{40}|rzp_(?:live|test)_${W}{14}|FLWSECK(?:_TEST)?-${W}{12,64}(?:-X)?|duffel_(?:live|test)_[A-Za-z0-9_=-]{43}`,
  ),
  shape(
    "payment-token",
    "~\\b(?:live|test)_(?:pub_)?[A-Za-z0-9]{30}",
    `(?:live|test)_(?:pub_)?${X}{35}|(?:live|test)_${W}{30}`,
    isChance,
  ),
  shape("stream-key", "~\\blive_\\d{6,12}_", `live_\\d{6,12}_${W}{28,36}`),
  shape(
    "social-token",
    "pina_ IGQ IGAA syt_ xoxd- md-",
    `pina_${W}{60,100}|IG(?:Q|AA)[A-Za-z0-9_-]{60,300}|syt_[A-Za-z0-9_]{4,60}_${W}{20}_${W}{6}|xoxd-[A-Za-z0-9%+/=_-]{40,400}|md-${U}{22}`,
  ),
  shape("social-token", "~\\bAQ[VXWTUSR][\\w-]{60}", `AQ[VXWTUSR]${U}{60,400}`),
  shape("payment-token", "~\\bAQE[\\w+/]{40}", `AQE[A-Za-z0-9+/]{40,200}={0,2}(?:-[^\\s"']{20,80})?`),
  shape(
    "mail-key",
    "mlsn. os_v2_ ~\\bo\\.[A-Za-z0-9]{32} ~\\bpk_[a-f0-9]{34}",
    `mlsn\\.${X}{64}|os_v2_(?:app|org)_[a-z0-9]{60,110}|o\\.${W}{32}|pk_${X}{34}`,
  ),
  shape("sendgrid-key", "SG.", `SG\\.[A-Za-z0-9_=-]{16,24}\\.[A-Za-z0-9_=-]{40,50}|SG\\.[A-Za-z0-9_.=-]{66}`),
  shape("mail-key", "~[a-f0-9]{32}-us\\d", `${X}{32}-us\\d{1,2}`),
  shape(
    "mail-key",
    "~key-[a-f0-9]{32} xkeysib- xsmtpsib- ~\\bre_\\w ~[a-f0-9]{32}-[a-f0-9]{8}-",
    `(?:key|pubkey)-${X}{32}|x(?:key|smtp)sib-${X}{64}-${W}{16}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,30}|${X}{32}-${X}{8}-${X}{8}`,
  ),
  shape("twilio-key", "~\\bSK[a-fA-F0-9]{32}", `SK[a-fA-F0-9]{32}`),
  shape("shopify-token", "shpat_ shpss_ shpca_ shppa_ shptka_", "shp(?:at|ss|ca|pa|tka)_[a-fA-F0-9]{32}"),
  shape("map-token", "sk.eyJ", `sk\\.eyJ${U}{40,120}\\.${U}{16,40}`),
  shape("content-token", "tfp_ fio-u-", `tfp_${U}{40,80}|fio-u-${U}{60,68}`),
  shape("content-token", "AAAAAAAAAAAAAAAAAA", `A{18,24}(?:%[0-9A-F]{2}|[A-Za-z0-9=]){50,130}`),
  shape("content-token", "oauth:", `oauth:[a-z0-9]{30}`),
  shape("age-key", "AGE-SECRET-KEY-1 AGE-PLUGIN-", "AGE-SECRET-KEY-1[A-Z0-9]{58}"),
  shape(
    "wallet-key",
    "nsec1 ~\\bS[A-Z2-7]{55} ~\\b[5KL][1-9A-HJ-NP-Za-km-z]{50}",
    `nsec1[a-z0-9]{58}|S[A-Z2-7]{55}|[5KL][1-9A-HJ-NP-Za-km-z]{50,51}`,
    (token) => /\d/.test(token) && isRandom(token),
  ),
  shape("wallet-key", "xprv yprv zprv", `[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,115}`),
];

/** What services that are not listed above name themselves by: `acme_live_…`, `acme_sk_…`, or a prefix before 32 mixed characters. */
export const IDS =
  /^(?:pk|pub|toolu|call|msg|chatcmpl|resp|req|run|thread|asst|file|cus|pi|ch|sub|evt|seti|src|card|tok|in|il|prod|price|sha\d+|session|item|rs|fc|ws|part|prt|ses|step|chunk|main|index|vendor|build)[_-]/;
const UNLISTED: readonly TokenShape[] = [
  shape(
    "token",
    "~\\b[a-z][a-z0-9]{1,15}[_-](?:[a-z0-9]{1,12}[_-]){0,3}[A-Za-z0-9]{32}",
    `[a-z][a-z0-9]{1,15}[_-](?:[a-z0-9]{1,12}[_-]){0,3}${W}{32,200}`,
    (token) =>
      !IDS.test(token) &&
      /\d/.test(token) &&
      /[a-z].*[A-Z]|[A-Z].*[a-z]/.test(token.replace(/^.*[_-]/, "")) &&
      isRandom(token.replace(/^.*[_-]/, "")),
  ),
  shape(
    "token",
    "~(?:sk|rk|api|apikey|pat|key|token|secret|live|test|prod|auth)_[A-Za-z0-9]{12}",
    `[a-z][a-z0-9]{0,15}(?:_[a-z0-9]{1,12}){0,3}_(?:sk|api|apikey|pat|key|token|secret|live|test|prod|auth)_[A-Za-z0-9_]{24,200}|(?:sk|api|pat|key|token|secret|live|auth)_${W}{24,200}`,
    (token) =>
      !IDS.test(token) &&
      /\d/.test(token) &&
      isRandom(token.replace(/^.*?_(?:sk|rk|api|apikey|pat|key|token|secret|live|test|prod|auth)_/, "").replaceAll("_", "")),
  ),
];

const JWT: readonly TokenShape[] = [
  shape(
    "jwt",
    "eyJ",
    `eyJ${U}{10,4000}\\.(?:eyJ${U}{6,8000}(?:\\.${U}{0,3000})?|[A-Za-z0-9_-]{20,8000}\\.${U}{20,3000}|${U}{0,4000}(?:\\.${U}{10,8000}){3})`,
  ),
  shape("jwt", "ZXlK", `ZXlK[A-Za-z0-9+/_-]{60,4000}={0,2}`),
];

/** Tokens whose issuers gave them a shape of their own. */
export const TOKEN_SHAPES: readonly TokenShape[] = [...MODELS, ...CODE, ...CLOUD, ...PEOPLE, ...JWT, ...UNLISTED].map((one) => ({
  ...one,
  accept: (token) => isNoStandIn(token) && (one.accept?.(token) ?? true),
}));
