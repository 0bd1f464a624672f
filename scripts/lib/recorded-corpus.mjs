import { createHash } from "node:crypto";

const LEAST_CHARACTERS = 1500;
const MOST_SESSIONS = 15;
const SAMPLE = 20_000; // characters looked at for the language
const FOREIGN_SHARE = 0.03;
const SHARED_TURNS = 0.5; // two recordings of one session share more than this of the shorter's turns

const normal = (text) => text.replace(/\s+/g, " ").trim();
const isForeign = (code) => (code > 0x24f && code < 0x2000) || (code > 0x2fff && code < 0xd800);

function turnsOf(session) {
  return session.steps
    .filter((step) => step.source === "agent" && !step.context_only)
    .map(({ text, reasoning = "", tool_calls = [] }) =>
      [text, reasoning, ...tool_calls.map((call) => call.name + call.arguments)].join("\n"),
    );
}

function isWanted(text) {
  const sample = text.slice(0, SAMPLE);
  const foreign = [...sample].filter((letter) => isForeign(letter.charCodeAt(0))).length;
  return text.length >= LEAST_CHARACTERS && foreign <= sample.length * FOREIGN_SHARE;
}

function shares(a, b) {
  const common = [...a.turns].filter((turn) => b.turns.has(turn)).length;
  return common / Math.max(1, Math.min(a.turns.size, b.turns.size)) > SHARED_TURNS;
}

/** The sessions of a repository worth learning from: long enough, in Latin script, each once, at most 15 spread evenly.
 * `seen` holds the hashes of other groups' sessions and is added to. */
export function chooseSessions(sessions, seen) {
  const kept = [];
  for (const session of sessions) {
    const texts = turnsOf(session);
    const whole = texts.join("");
    const hash = createHash("sha256").update(normal(whole)).digest("hex");
    if (!isWanted(whole) || seen.has(hash)) continue;
    const one = { session, size: whole.length, turns: new Set(texts.map(normal).filter((turn) => turn.length > 40)) };
    const twin = kept.findIndex((other) => shares(one, other));
    if (twin < 0) kept.push(one);
    else if (one.size > kept[twin].size) kept[twin] = one;
    seen.add(hash);
  }
  const step = Math.max(1, kept.length / MOST_SESSIONS);
  const count = Math.min(kept.length, MOST_SESSIONS);
  return Array.from({ length: count }, (_, index) => kept[Math.floor(index * step)].session);
}

/** The sessions that a row of a manifest names: all, or of a file of many conversations those with the numbers
 * `conversations`, from 0. */
export function namedSessions(sessions, { group, conversations = [...sessions.keys()] }) {
  return conversations.map((number) => {
    if (!sessions[number]) throw new Error(`${group}: there is no conversation ${number} among ${sessions.length}.`);
    return sessions[number];
  });
}
