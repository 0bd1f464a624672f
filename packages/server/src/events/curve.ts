import { Progress } from "@imprint/contracts";

const FINISHED_POINTS = 100;

const FIELDS = Object.keys(Progress.properties) as readonly (keyof Progress)[];
const DIGITS = 7; // of a 32-bit float

const NONE = Number.NaN; // stands for null

/** At most `limit` points, evenly chosen, the first and the last among them: four bytes a figure, one point after the other. */
const packCurve = (points: readonly Progress[], limit: number): Float32Array => {
  const count = Math.min(points.length, limit);
  const chosen = Array.from({ length: count }, (_, at) =>
    Math.round((at * (points.length - 1)) / Math.max(1, count - 1)),
  ).flatMap((index) => points[index] ?? []);
  return Float32Array.from(chosen.flatMap((point) => FIELDS.map((field) => point[field] ?? NONE)));
};

const unpackCurve = (packed: Float32Array): readonly Progress[] =>
  Array.from({ length: packed.length / FIELDS.length }, (_, point) => {
    const figures = FIELDS.map((field, at) => {
      const figure = packed[point * FIELDS.length + at] ?? NONE;
      return [field, Number.isNaN(figure) ? null : Number(figure.toPrecision(DIGITS))];
    });
    return Object.fromEntries(figures) as Progress;
  });

export interface Curve {
  add(point: Progress): void;
  /** Evenly thinned out; the first and the last point are always there. */
  points(): readonly Progress[];
  /** No point follows: the curve shrinks to 100 points of 44 bytes. */
  end(): void;
}

/** A training's steps in bounded memory: when there are more than `limit`, every other one is forgotten, and of the new ones too. */
export const createCurve = (limit: number): Curve => {
  let kept: Progress[] = [];
  let last: Progress | null = null;
  let stride = 1;
  let count = 0;
  let packed: Float32Array | null = null;

  const points = (): readonly Progress[] => {
    if (packed) return unpackCurve(packed);
    return last === null || kept.at(-1) === last ? kept : [...kept, last];
  };

  return {
    add: (point) => {
      last = point;
      if (count % stride === 0) kept.push(point);
      count += 1;
      if (kept.length < limit) return;
      kept = kept.filter((_, index) => index % 2 === 0);
      stride *= 2;
    },
    points,
    end: () => {
      packed = packCurve(points(), FINISHED_POINTS);
      kept = [];
      last = null;
    },
  };
};
