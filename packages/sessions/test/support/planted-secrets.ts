export interface Planted {
  readonly kind: string;
  /** A line of text that holds the secret. */
  readonly line: string;
  /** What must be replaced. */
  readonly secret: string;
}

type Draw = (alphabet: string, length: number) => string;

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";
const ALNUM = LOWER + UPPER + DIGITS;
const HEX = "0123456789abcdef";
const BASE32 = `${UPPER}234567`;
const URL_SAFE = `${ALNUM}_-`;

/** Repeatable random characters (mulberry32). */
export function random(seed: number): Draw {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return (alphabet, length) => Array.from({ length }, () => alphabet[Math.floor(next() * alphabet.length)]).join("");
}

/** No vowels: chance must not spell `fake` or `mock`, which would make a secret a stand-in. */
const SMALL = "bcdfghjklmnpqrstvwz";
const LARGE = SMALL.toUpperCase();

/** A password's letters, each of its own kind: one that repeats itself is none that is looked for. */
const word = (draw: Draw): string => ["bc", "dfg", "hjk", "lmn", "pqr", "stvwz"].map((letters) => draw(letters, 1)).join("");

/** Letters and digits of both kinds for sure, as real keys have them. */
const key = (draw: Draw, length: number): string =>
  `${draw(SMALL, 2)}7${draw(LARGE, 2)}${draw(SMALL + LARGE + DIGITS, length - 7)}4k`;

/** Forty secrets as they stand in sessions, made of parts, so that no scanner takes this file for a leak. */
export function planted(draw: Draw): Planted[] {
  const one = (kind: string, secret: string, line = secret): Planted => ({ kind, secret, line });
  const inLine = (kind: string, secret: string, before: string, after = ""): Planted =>
    one(kind, secret, before + secret + after);
  const dashes = "-----";
  const body = Array.from({ length: 6 }, () => draw(`${ALNUM}+/`, 64)).join("\n");
  const pem = (name: string): string =>
    `${dashes}BEGIN ${name}${dashes}\n${body}\n${draw(ALNUM, 20)}==\n${dashes}END ${name}${dashes}`;
  const jwt = `${"ey"}J${draw(URL_SAFE, 33)}.${"ey"}J${draw(URL_SAFE, 80)}.${draw(URL_SAFE, 42)}A`;
  return [
    inLine("aws-key", `AK${"IA"}${draw(BASE32, 16)}`, "aws_access_key_id = "),
    inLine("aws-key", `AS${"IA"}${draw(BASE32, 16)}`, 'AWS_ACCESS_KEY_ID="', '"'),
    inLine("secret", key(draw, 40), 'aws_secret_access_key = "', '"'),
    inLine("secret", key(draw, 40), "export AWS_SECRET_ACCESS_KEY="),
    inLine("github-token", `gh${"p_"}${draw(ALNUM, 36)}`, "git clone https://x-access-token:", "@github.com/a/b.git"),
    inLine("github-token", `gh${"s_"}${draw(ALNUM, 36)}`, "GITHUB_TOKEN="),
    one("github-token", `github_${"pat_"}${draw(ALNUM, 22)}_${draw(ALNUM, 59)}`),
    inLine("gitlab-token", `gl${"pat-"}${draw(ALNUM, 20)}`, "PRIVATE-TOKEN: "),
    inLine("anthropic-key", `sk-${"ant-"}api03-${draw(ALNUM, 90)}AA`, "ANTHROPIC_API_KEY="),
    inLine("openai-key", `sk-${"proj-"}${key(draw, 60)}`, 'OpenAI(api_key="', '")'),
    inLine("openai-key", `s${"k-"}${key(draw, 48)}`, "Authorization: Bearer "),
    one("google-key", `AI${"za"}${draw(ALNUM, 35)}`),
    one("google-oauth", `GOC${"SPX-"}${draw(ALNUM, 28)}`),
    inLine("google-oauth", `ya${"29."}${draw(ALNUM, 60)}`, '"access_token": "', '"'),
    one("slack-token", `xo${"xb-"}${draw(DIGITS, 12)}-${draw(DIGITS, 12)}-${draw(ALNUM, 24)}`),
    one("slack-token", `xo${"xp-"}${draw(DIGITS, 12)}-${draw(DIGITS, 12)}-${draw(HEX, 32)}`),
    one("slack-webhook", `https://hooks.${"slack"}.com/services/T${draw(ALNUM, 10)}/B${draw(ALNUM, 10)}/${key(draw, 24)}`),
    inLine("stripe-key", `sk_${"live_"}${key(draw, 24)}`, "stripe.api_key = '", "'"),
    one("stripe-key", `rk_${"test_"}${key(draw, 24)}`),
    inLine("npm-token", `np${"m_"}${key(draw, 36)}`, "//registry/:_authToken="),
    inLine("pypi-token", `py${"pi-"}AgE${key(draw, 120)}`, "password = "),
    inLine("hugging-face-token", `h${"f_"}${draw(LOWER + UPPER, 34)}`, "HF_TOKEN="),
    one("sendgrid-key", `S${"G."}${key(draw, 22)}.${draw(ALNUM, 43)}`),
    one("telegram-token", `${draw("123456789", 9)}:A${"A"}${key(draw, 33)}`),
    one("digitalocean-token", `dop_${"v1_"}${draw(HEX, 63)}7`),
    one("database-token", `da${"pi"}${draw(HEX, 31)}7`),
    inLine("azure-storage-key", `${draw(ALNUM, 86)}==`, "AccountName=x;AccountKey=", ";EndpointSuffix=core.windows.net"),
    one("vault-token", `hv${"s."}${key(draw, 90)}`),
    one("docker-token", `dckr_${"pat_"}${key(draw, 27)}`),
    one("shopify-token", `shp${"at_"}${draw(HEX, 31)}7`),
    one("office-token", `lin_${"api_"}${key(draw, 40)}`),
    one("model-api-key", `gs${"k_"}${key(draw, 52)}`),
    one("age-key", `AGE-${"SECRET-KEY-"}1${draw(UPPER + DIGITS, 57)}7`),
    one("private-key", pem(`RSA ${"PRIVATE"} KEY`)),
    one("private-key", pem(`OPENSSH ${"PRIVATE"} KEY`)),
    inLine("jwt", jwt, "Cookie: session="),
    inLine("authorization", key(draw, 40), "Authorization: Bearer "),
    inLine("password", `${word(draw)}7!${draw(LARGE, 4)}`, "postgres://app:", "@db.internal:5432/main"),
    inLine("password", `${word(draw)}7${draw(LARGE, 4)}`, "DB_PASSWORD="),
    inLine("password", `${word(draw)}9#${draw(LARGE, 4)}`, '"password": "', '"'),
    inLine("password", `${word(draw)}4${draw(LARGE, 4)}`, "curl -s -u admin:", " https://internal.host/x"),
    inLine("secret", key(draw, 32), "client_secret: '", "'"),
    inLine("secret", key(draw, 32), "X-Api-Key: "),
    inLine("email", `q${draw(LOWER, 5)}.${draw(LOWER, 6)}@${"proton"}.me`, "Author: A <", ">"),
    inLine("home-path", `q${draw(LOWER, 6)}`, "cd /home/", "/project && ls"),
    inLine("home-path", `q${draw(LOWER, 6)}`, 'File "/Users/', '/dev/x.py", line 3'),
    inLine("home-path", `q${draw(LOWER, 6)}`, "C:\\Users\\", "\\AppData\\x"),
  ];
}
