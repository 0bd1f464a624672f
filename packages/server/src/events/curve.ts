import type { Progress } from "@imprint/contracts";
import { packCurve, unpackCurve } from "./packed-curve.js";

const FINISHED_POINTS = 100;

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
