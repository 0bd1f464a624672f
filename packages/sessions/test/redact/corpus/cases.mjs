import { drawer } from "./draw.mjs";
import { FORMS } from "./forms/all.mjs";
import { CALL_ID, PLACES, read } from "./places.mjs";
import { codeTexts } from "./plain/code.mjs";
import { commonTexts } from "./plain/common.mjs";
import { idTexts } from "./plain/ids.mjs";
import { secondTexts } from "./plain/second.mjs";
import { recording } from "./session.mjs";
import { half } from "./split.mjs";
import { values } from "./values.mjs";

export const TEXTS = [...codeTexts, ...idTexts, ...secondTexts.map((text) => ({ ...text, writing: 2 })), ...commonTexts];

/** The text of a form at a place, drawn anew for each: what an importer learns in one session helps in no other. */
function drawn(entry, place, seed) {
  const d = drawer("value", seed, entry.name, place);
  return { d, ...read(entry.make(values(d))) };
}

const at = (entry, place, seed) => {
  const { d, text, pieces } = drawn(entry, place, seed);
  return { entry, place, half: half(entry), text, pieces, recording: recording(PLACES[place](text, d)) };
};

/** A token alone as the id of a call. */
const asCallId = (entry, seed) => {
  const { pieces } = drawn(entry, CALL_ID, seed);
  return { entry, place: CALL_ID, half: half(entry), pieces, recording: recording({ callId: pieces[0], chat: true }) };
};

/** A secret that a result shows, and that the answer after it repeats alone. */
const copied = (entry, seed) => {
  const { text, pieces } = drawn(entry, "copy", seed);
  const last = `I noted it: ${pieces[0]} (from the output above).`;
  return { entry, place: "copy", half: half(entry), pieces, recording: recording({ result: text, last }) };
};

/** Everything that must be found: forms at each place, tokens as ids of calls. */
export const secretCases = (seed, only = () => true) =>
  FORMS.filter(only).flatMap((form) => [
    ...Object.keys(PLACES).map((place) => at(form, place, seed)),
    ...(form.bare ? [asCallId(form, seed)] : []),
  ]);

/** Secrets of one line, shown once with their name and once without. */
export const copyCases = (seed, only = () => true) =>
  FORMS.filter(only)
    .map((form) => copied(form, seed))
    .filter((one) => one.pieces.length === 1 && !one.pieces[0].includes("\n"));

/** Everything that must stay. */
export const plainCases = (seed, only = () => true) =>
  TEXTS.filter(only).flatMap((text) => Object.keys(PLACES).map((place) => at(text, place, seed)));

export { FORMS };
