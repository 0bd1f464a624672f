import { createHash } from "node:crypto";
import { drawer } from "../draw.mjs";
import { PLACES, read } from "../places.mjs";
import { recording } from "../session.mjs";
import { hide, values } from "../values.mjs";
import { CONTEXTS } from "./contexts.mjs";
import { KEYS } from "./keys.mjs";
import { PASSWORDS } from "./passwords.mjs";
import { PLAIN } from "./plain.mjs";
import { PROVIDERS } from "./providers.mjs";
import { moreValues, shaped } from "./values.mjs";

/** How many ways of writing a token down each shape is drawn in. */
const WAYS = 4;

const isHeldOut = (sort, family) => createHash("sha256").update(`${sort} ${family}`).digest()[0] % 2 === 0;
const familyOf = (name) => name.split(":")[0];
const capital = (word) => word[0].toUpperCase() + word.slice(1);

/** A case at a place that chance picks. */
function caseOf({ name, half, d, marked }) {
  const place = d.pick(Object.keys(PLACES));
  const { text, pieces } = read(marked);
  return { entry: { name }, place, half, text, pieces, recording: recording(PLACES[place](text, d)) };
}

/** Tokens of services: open only where both the service and the way of writing are. */
function providerCases(seed) {
  const ways = Object.keys(CONTEXTS);
  return PROVIDERS.flatMap(({ family, word, shape }) => {
    const { pick } = drawer("ways", family, shape);
    return [...new Set(Array.from({ length: WAYS }, () => pick(ways)))].map((way) => {
      const d = drawer("others", seed, family, shape, way);
      const p = word.replaceAll(/[^a-z0-9]/g, "");
      const names = { p, P: word.toUpperCase().replaceAll("-", "_"), C: capital(p), t: hide(shaped(d, shape)) };
      const half = isHeldOut("providers", family) || isHeldOut("ways", way) ? "held-out" : "tune";
      return caseOf({ name: `${way}: ${family} ${shape}`, half, d, marked: CONTEXTS[way](names) });
    });
  });
}

function kindCases(sort, forms, seed) {
  return Object.entries(forms).flatMap(([name, make]) =>
    Array.from({ length: WAYS }, (_, at) => {
      const d = drawer("others", seed, name, String(at));
      const v = { ...values(d), ...moreValues(d) };
      return caseOf({ name, half: isHeldOut(sort, familyOf(name)) ? "held-out" : "tune", d, marked: make(v) });
    }),
  );
}

/** What must be found, by facts of other hands. */
export const otherSecrets = (seed) => [
  ...providerCases(seed),
  ...kindCases("passwords", PASSWORDS, seed),
  ...kindCases("keys", KEYS, seed),
];

/** What must stay. */
export const otherTexts = (seed) => kindCases("plain", PLAIN, seed);
