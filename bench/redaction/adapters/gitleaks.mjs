import { readFileSync } from "node:fs";
import path from "node:path";
import { load, without } from "./replace.mjs";

/** Go's regular expressions in JavaScript's words; a case that holds for a part only holds for the whole. */
function translated(source) {
  const flags = /\(\?i[:)]/.test(source) ? "gi" : "g";
  const pattern = source
    .replaceAll("(?i)", "")
    .replaceAll(/\(\?-?[is]+:/g, "(?:")
    .replaceAll("(?P<", "(?<")
    .replaceAll("\\z", "$")
    .replaceAll("[[:alnum:]]", "[0-9A-Za-z]");
  return new RegExp(pattern, flags);
}

function entropy(text) {
  const counts = new Map();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

const tested = (list = []) => list.map((source) => new RegExp(translated(source).source, "i"));

function allowing(lists = []) {
  const parts = lists.map((one) => ({
    regexes: tested(one.regexes),
    stopwords: one.stopwords ?? [],
    onLine: one.regexTarget === "line",
    onMatch: one.regexTarget === "match",
    others: (one.paths ?? []).length > 0 && one.condition === "AND",
  }));
  return ({ secret, match, line }) =>
    parts.some(
      ({ regexes, stopwords, onLine, onMatch, others }) =>
        !others &&
        (regexes.some((regex) => regex.test(onLine ? line : onMatch ? match : secret)) ||
          stopwords.some((word) => secret.toLowerCase().includes(word))),
    );
}

/** The rules of gitleaks, run in Node: needs the package toml, and gitleaks.toml of the repository in the same folder. */
export async function create(folder) {
  const toml = await load(folder, "toml");
  const config = toml.parse(readFileSync(path.join(folder, "gitleaks.toml"), "utf8"));
  const allowedAnywhere = allowing([config.allowlist, ...(config.allowlists ?? [])].filter(Boolean));
  const rules = config.rules
    .filter((rule) => rule.regex !== undefined)
    .map((rule) => ({ ...rule, pattern: translated(rule.regex), allowed: allowing(rule.allowlists) }));
  const rangesOf = (rule, text) =>
    [...text.matchAll(rule.pattern)].flatMap((found) => {
      const secret = (rule.secretGroup ? found[rule.secretGroup] : found.slice(1).find(Boolean)) ?? found[0];
      const start = found.index + found[0].lastIndexOf(secret);
      const line = text.slice(text.lastIndexOf("\n", start) + 1, text.indexOf("\n", start) >>> 0);
      const seen = { secret, match: found[0], line };
      if ((rule.entropy ?? 0) > 0 && entropy(secret) <= rule.entropy) return [];
      return rule.allowed(seen) || allowedAnywhere(seen) ? [] : [[start, start + secret.length]];
    });
  return {
    name: "gitleaks rules",
    redact(text) {
      const small = text.toLowerCase();
      const likely = rules.filter(
        (rule) => (rule.keywords ?? []).length === 0 || rule.keywords.some((word) => small.includes(word)),
      );
      return without(
        text,
        likely.flatMap((rule) => rangesOf(rule, text)),
      );
    },
  };
}
