import { Progress } from "@imprint/contracts";

const FIELDS = Object.keys(Progress.properties) as readonly (keyof Progress)[];
const DIGITS = 7; // of a 32-bit float

const NONE = Number.NaN; // stands for null

/** At most `limit` points, evenly chosen, the first and the last among them: four bytes a figure, one point after the other. */
export const packCurve = (points: readonly Progress[], limit: number): Float32Array => {
  const count = Math.min(points.length, limit);
  const chosen = Array.from({ length: count }, (_, at) =>
    Math.round((at * (points.length - 1)) / Math.max(1, count - 1)),
  ).flatMap((index) => points[index] ?? []);
  return Float32Array.from(chosen.flatMap((point) => FIELDS.map((field) => point[field] ?? NONE)));
};

export const unpackCurve = (packed: Float32Array): readonly Progress[] =>
  Array.from({ length: packed.length / FIELDS.length }, (_, point) => {
    const figures = FIELDS.map((field, at) => {
      const figure = packed[point * FIELDS.length + at] ?? NONE;
      return [field, Number.isNaN(figure) ? null : Number(figure.toPrecision(DIGITS))];
    });
    return Object.fromEntries(figures) as Progress;
  });
