import { hide as s } from "../values.mjs";
import { around } from "./around.mjs";

const table = [
  ["slack-bot-token", "SLACK_BOT_TOKEN", (v) => `xo${"xb-"}${v.digits(12)}-${v.digits(13)}-${v.alnum(24)}`],
  ["slack-user-token", "SLACK_USER_TOKEN", (v) => `xo${"xp-"}${v.digits(12)}-${v.digits(12)}-${v.digits(13)}-${v.hex(32)}`],
  ["slack-app-token", "SLACK_APP_TOKEN", (v) => `xa${"pp-"}1-A${v.upnum(10)}-${v.digits(13)}-${v.hex(64)}`],
  ["slack-browser-cookie", "SLACK_D", (v) => `xo${"xd-"}${v.alnum(120)}%2B${v.alnum(40)}`],
  ["slack-config-token", "SLACK_CONFIG", (v) => `xoxe.xo${"xp-"}1-${v.alnum(166)}`],
  [
    "slack-webhook",
    "SLACK_WEBHOOK",
    (v) => `https://hooks.${"slack"}.com/services/T${v.upnum(10)}/B${v.upnum(10)}/${v.alnum(24)}`,
  ],
  [
    "discord-bot-token",
    "DISCORD_TOKEN",
    (v) => `${Buffer.from(v.digits(18)).toString("base64url")}.G${v.alnum(5)}.${v.urlsafe(38)}`,
  ],
  ["discord-webhook", "WEBHOOK_URL", (v) => `https://dis${"cord"}.com/api/webhooks/1${v.digits(18)}/${v.urlsafe(68)}`],
  [
    "teams-webhook",
    "TEAMS_WEBHOOK",
    (v) => `https://acme.webhook.${"office"}.com/webhookb2/${v.uuid()}@${v.uuid()}/IncomingWebhook/${v.hex(32)}/${v.uuid()}`,
  ],
  ["telegram-bot-token", "TELEGRAM_TOKEN", (v) => `${v.pick("123456789".split(""))}${v.digits(9)}:AA${v.urlsafe(33)}`],
  ["stripe-live-key", "STRIPE_SECRET_KEY", (v) => `sk_${"live_"}${v.alnum(24)}`],
  ["stripe-long-key", "STRIPE_SECRET_KEY", (v) => `sk_${"live_"}51${v.alnum(97)}`],
  ["stripe-test-key", "STRIPE_KEY", (v) => `sk_${"test_"}51${v.alnum(97)}`],
  ["stripe-restricted-key", "STRIPE_KEY", (v) => `rk_${"live_"}51${v.alnum(97)}`],
  ["stripe-webhook-secret", "STRIPE_WEBHOOK_SECRET", (v) => `wh${"sec_"}${v.alnum(32)}`],
  ["square-token", "SQUARE_TOKEN", (v) => `EA${"AA"}E${v.urlsafe(59)}`],
  ["shopify-access-token", "SHOPIFY_TOKEN", (v) => `sh${"pat_"}${v.hex(32)}`],
  ["shopify-shared-secret", "SHOPIFY_SECRET", (v) => `sh${"pss_"}${v.hex(32)}`],
  ["paypal-braintree-token", "BRAINTREE_TOKEN", (v) => `access_${"token$"}production$${v.lownum(16)}$${v.hex(32)}`],
  ["razorpay-key", "RAZORPAY_KEY", (v) => `rzp_${"live_"}${v.alnum(14)}`],
  ["flutterwave-secret", "FLW_SECRET", (v) => `FLW${"SECK-"}${v.hex(32)}-X`],
  ["plaid-access-token", "PLAID_TOKEN", (v) => `access-${"production-"}${v.uuid()}`],
  ["sendgrid-key", "SENDGRID_API_KEY", (v) => `S${"G."}${v.urlsafe(22)}.${v.urlsafe(43)}`],
  ["mailgun-key", "MAILGUN_API_KEY", (v) => `ke${"y-"}${v.hex(32)}`],
  ["mailchimp-key", "MAILCHIMP_API_KEY", (v) => `${v.hex(32)}-us${v.between(1, 21)}`],
  ["brevo-key", "BREVO_API_KEY", (v) => `xkey${"sib-"}${v.hex(64)}-${v.alnum(16)}`],
  ["resend-key", "RESEND_API_KEY", (v) => `r${"e_"}${v.alnum(8)}_${v.alnum(24)}`],
  ["twilio-api-key-id", "TWILIO_API_KEY", (v) => `S${"K"}${v.hex(32)}`],
  ["facebook-token", "FB_TOKEN", (v) => `EAA${"Ci"}${v.alnum(170)}`],
  ["mapbox-secret-token", "MAPBOX_TOKEN", (v) => `s${"k."}eyJ1Ijoi${v.alnum(70)}.${v.urlsafe(22)}`],
  ["hubspot-pat", "HUBSPOT_TOKEN", (v) => `pat-${"na1-"}${v.uuid()}`],
  ["typeform-token", "TYPEFORM_TOKEN", (v) => `tf${"p_"}${v.alnum(44)}_${v.alnum(14)}`],
  ["dropbox-short-token", "DROPBOX_TOKEN", (v) => `sl${".B"}${v.urlsafe(136)}`],
  ["posthog-personal-key", "POSTHOG_KEY", (v) => `ph${"x_"}${v.alnum(43)}`],
  ["contentful-pat", "CONTENTFUL_TOKEN", (v) => `CF${"PAT-"}${v.urlsafe(43)}`],
  ["easypost-key", "EASYPOST_KEY", (v) => `EZ${"AK"}${v.alnum(54)}`],
  ["shippo-token", "SHIPPO_TOKEN", (v) => `shippo_${"live_"}${v.hex(40)}`],
  ["frameio-token", "FRAMEIO_TOKEN", (v) => `fio${"-u-"}${v.urlsafe(64)}`],
  ["duffel-token", "DUFFEL_TOKEN", (v) => `duffel_${"live_"}${v.urlsafe(43)}`],
];

/** Written into an address's path or query, where the shape has other neighbours. */
const inAddresses = [
  ["telegram-token-in-path", (v) => `https://api.telegram.org/bot${s(`${v.digits(10)}:AA${v.urlsafe(33)}`)}/sendMessage`],
  [
    "google-key-in-query",
    (v) => `GET https://maps.googleapis.com/maps/api/geocode/json?key=${s(`AI${"za"}${v.urlsafe(35)}`)}&address=Oslo`,
  ],
  [
    "azure-sas-signature",
    (v) =>
      `https://acme.blob.core.windows.net/in/a.csv?sv=2023-11-03&st=2025-01-01T00%3A00%3A00Z&se=2026-01-01T00%3A00%3A00Z&sr=b&sp=r&sig=${s(encodeURIComponent(v.base64(32)))}`,
  ],
  [
    "aws-presigned-signature",
    (v) =>
      `https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Signature=${s(v.hex(64))}`,
  ],
  ["access-token-in-query", (v) => `curl "https://api.acme.dev/v1/me?access_token=${s(v.alnum(40))}&page=2"`],
  [
    "api-key-in-query",
    (v) => `https://api.openweathermap.org/data/2.5/weather?q=Oslo&${v.pick(["appid", "api_key", "apikey"])}=${s(v.hex(32))}`,
  ],
  ["sentry-old-dsn", (v) => `SENTRY_DSN=https://${v.hex(32)}:${s(v.hex(32))}@sentry.io/1${v.digits(5)}`],
];

export const peopleIssuers = [
  ...table.map(([name, variable, make]) => ({
    name,
    kind: "issuer: messages, payments, people",
    bare: true,
    make: (v) => around(v, make(v), variable),
  })),
  ...inAddresses.map(([name, make]) => ({ name, kind: "tokens in addresses", make })),
];
