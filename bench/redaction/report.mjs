import { wilson } from "../harness/statistics.mjs";

const percent = (share) => (100 * share).toFixed(1);

export function rate(results) {
  const hits = results.filter((one) => one.hit).length;
  const [low, high] = wilson(hits, results.length);
  return { hits, of: results.length, share: results.length === 0 ? null : hits / results.length, low, high };
}

function grouped(results, key) {
  const groups = new Map();
  for (const one of results) groups.set(one[key], [...(groups.get(one[key]) ?? []), one]);
  return [...groups];
}
const rates = (results, key) => Object.fromEntries(grouped(results, key).map(([name, list]) => [name, rate(list)]));
/** Forms found at every place, texts changed at any: one form counts once, whatever its places share. */
const whole = (results, every) =>
  rate(grouped(results, "name").map(([, list]) => ({ hit: every ? list.every((one) => one.hit) : list.some((one) => one.hit) })));

/** Names with the places at which they went wrong. */
const wrong = (results, isWrong) =>
  Object.fromEntries(grouped(results.filter(isWrong), "name").map(([name, list]) => [name, list.map((one) => one.place)]));

/** Figures of one half; names only where they may be shown. */
export function summary(measured, side, reveal) {
  const of = (list) => list.filter((one) => one.half === side);
  const [found, copies, changed] = [of(measured.found), of(measured.copies), of(measured.false)];
  return {
    found: rate(found),
    forms: whole(found, true),
    copies: rate(copies),
    false: rate(changed),
    texts: whole(changed, false),
    places: rates(found, "place"),
    kinds: rates(found, "kind"),
    false_places: rates(changed, "place"),
    ...(reveal && {
      missed: wrong(found, (one) => !one.hit),
      missed_copies: Object.keys(wrong(copies, (one) => !one.hit)),
      changed: wrong(changed, (one) => one.hit),
    }),
  };
}

const line = (name, one) =>
  one.of === 0
    ? `  ${name}: none`
    : `  ${name}: ${percent(one.share)} % (${one.hits} of ${one.of}; 95 %: ${percent(one.low)} to ${percent(one.high)})`;

const listed = (title, names) => {
  const entries = Object.entries(names);
  return entries.length === 0 ? [] : [`  ${title}:`, ...entries.map(([name, places]) => `    ${name}: ${places.join(", ")}`)];
};

export function sentences(side, figures) {
  return [
    `${side}`,
    line("found, form by place", figures.found),
    line("forms found at every place", figures.forms),
    line("repeated alone, found", figures.copies),
    line("false, text by place", figures.false),
    line("texts changed at any place", figures.texts),
    ...Object.entries(figures.places).map(([name, one]) => line(`  at ${name}`, one)),
    ...Object.entries(figures.kinds).map(([name, one]) => line(`  of ${name}`, one)),
    ...(figures.missed ? listed("missed", figures.missed) : []),
    ...(figures.missed_copies?.length ? [`  copies left: ${figures.missed_copies.join(", ")}`] : []),
    ...(figures.changed ? listed("changed without need", figures.changed) : []),
  ];
}
