import { drawing } from "../../harness/draw.mjs";
import { changesOf, waysOf, wrongWaysOf } from "./expert.mjs";
import { docs } from "./kinds/docs.mjs";
import { operations } from "./kinds/operations.mjs";
import { pipeline } from "./kinds/pipeline.mjs";
import { python } from "./kinds/python.mjs";
import { service } from "./kinds/service.mjs";
import { COLUMNS, NAMES, PEOPLE } from "./words.mjs";

/** `{name}` in a text becomes the value of that name. */
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/**
 * Each draws the house of one repository: its files, what is done after a change (`finish`), and four families of tasks with two ways to
 * edit. The last family is shown in no training; its two wordings are held out, as the last two of the others are.
 */
const KINDS = { operations, python, service, docs, pipeline };

/** So many repositories of each kind. */
const COUNTS = { operations: 3, python: 3, service: 2, docs: 2, pipeline: 2 };
const TUNING = 4;
const UNITS = 6; // that tasks of one side are about
const TASKS = { training: 4, heldOut: 3 }; // of a family

/** The twelve names with their kinds, and the half that the seed puts each in: four for tuning, of different kinds, eight for the test. */
export function repositories(seed) {
  const all = Object.entries(COUNTS).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, at) => ({ name: `${kind}-${at + 1}`, kind })),
  );
  const draw = drawing(`${seed} split`);
  const tuning = draw
    .shuffled(Object.keys(COUNTS))
    .slice(0, TUNING)
    .map((kind) => `${kind}-${1 + draw.below(COUNTS[kind])}`);
  return all.map((one) => ({ ...one, half: tuning.includes(one.name) ? "tuning" : "test" }));
}

/**
 * All of a repository but its folder: `house` with its files and rules, and `tasks`, each with its side, what is asked, the commands that
 * do it (`changes`), the expert's ways, and ways that forget a rule; a way is a list of `{say, command}`.
 */
export function planRepository({ name, kind, seed }) {
  const draw = drawing(`${seed} ${name}`);
  const house = KINDS[kind](draw, {
    name: draw.pool(NAMES),
    person: draw.pool(PEOPLE),
    column: draw.pool(COLUMNS),
    number: draw.pool(Array.from({ length: 900 }, (_, at) => at + 100)),
  });
  const units = Object.fromEntries(Object.keys(TASKS).map((side) => [side, Array.from({ length: UNITS }, house.entity)]));
  const tasks = Object.keys(TASKS).flatMap((side) =>
    house.families.flatMap((family, at) => {
      const shown = at < house.families.length - 1;
      if (side === "training" && !shown) return [];
      const about = draw.shuffled(units[side]);
      return Array.from({ length: TASKS[side] }, (_, number) => {
        const asked = { house, family, shown, side, number, one: about[number], other: about[number + 1] };
        return taskOf(draw, asked);
      });
    }),
  );
  return { name, kind, seed, house, files: house.files(draw.shuffled(Object.values(units).flat())), tasks };
}

function taskOf(draw, { house, family, shown, side, number, one, other }) {
  const values = { name: one.name, ...family.of(one, other) };
  const wordings = side === "training" ? family.said.slice(0, 2) : family.said.slice(-2);
  const { subject = one.name } = values;
  const entry = fill(house.line, { name: subject, what: values.what });
  const steps = {
    rules: house.rules,
    look: house.look(one),
    astray: house.astray(one),
    edits: values.edits,
    finish: [...house.finish(one, family.name), ["log", `echo '${entry}' >> ${fill(house.log, { name: subject })}`]],
    check: house.check,
  };
  return {
    number,
    name: `${side === "training" ? "training" : "held-out"}-${family.name}-${number + 1}`,
    side,
    family: family.name,
    shown,
    subjects: [one.name, values.value].filter((it) => it !== undefined),
    prompt: fill(wordings[number % wordings.length], values),
    changes: changesOf(steps),
    ways: waysOf(draw, steps),
    wrong: wrongWaysOf(steps),
  };
}
