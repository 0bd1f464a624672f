import { hide as s } from "../values.mjs";

export const until = (draw, test) => {
  let value = draw();
  while (!test(value)) value = draw();
  return value;
};
/** A password that may stand bare in YAML, ini, .env. */
export const bare = (v) =>
  until(
    () => v.password(),
    (p) => /^[A-Za-z0-9]/.test(p),
  );
/** A password that may stand bare in a shell. */
export const shell = (v) =>
  until(
    () => v.password(),
    (p) => /^[A-Za-z0-9][\w.@%+-]*$/.test(p),
  );
/** A password in the authority of a URL. */
export const inUrl = (v) => encodeURIComponent(v.password());
export const b64 = (text) => Buffer.from(text).toString("base64");
export const lines = (list) => list.map((line) => s(line));
export const start = (list, head) => [head + list[0].slice(head.length), ...list.slice(1)];
export const pem = (kind, list) => [`-----BEGIN ${kind}-----`, ...lines(list), `-----END ${kind}-----`];
export const rsa = (v) => start(v.body(1192), "MIIEow");
export const pkcs8 = (v) => start(v.body(1218), "MIIEv");
export const ec = (v) => start(v.body(121), "MHcCAQEEI");
export const OPENSSH = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW";
export const openssh = (v) => [
  "-----BEGIN OPENSSH PRIVATE KEY-----",
  OPENSSH,
  ...lines(v.body(252, 70)),
  "-----END OPENSSH PRIVATE KEY-----",
];
export const numbered = (list, from, line) => list.map((one, index) => line(index + from, one)).join("\n");
export const cat = (at, one) => `${String(at).padStart(6)}\t${one}`;
export const arrow = (at, one) => `${String(at).padStart(6)}→${one}`;

export const openai = (v) => `sk-proj-${v.alnum(74)}T3BlbkFJ${v.urlsafe(73)}A`;
export const anthropic = (v) => `sk-ant-api03-${v.urlsafe(93)}AA`;
export const stripe = (v, mode = "live") => `sk_${mode}_51${v.alnum(97)}`;
export const slackBot = (v) => `xoxb-${v.digits(12)}-${v.digits(13)}-${v.alnum(24)}`;
export const google = (v) => `AIzaSy${v.urlsafe(32)}k`;
export const gitlab = (v) => `glpat-${v.urlsafe(19)}x`;
export const npm = (v) => `npm_${v.alnum(36)}`;
export const pypi = (v) => `pypi-AgEIcHlwaS5vcmc${v.urlsafe(150)}`;
export const sendgrid = (v) => `SG.${v.urlsafe(22)}.${v.urlsafe(43)}`;
export const hf = (v) => `hf_${v.alnum(34)}`;
export const fine = (v) => `github_pat_${v.alnum(22)}_${v.alnum(59)}`;

/** Forms as the corpus takes them, of an object of names and what makes them. */
export const commonForms = (forms) =>
  Object.entries(forms).map(([name, make]) => ({
    name: `common-${name.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase()}`,
    kind: "common forms",
    make,
  }));
