import { useId } from "react";

const MARGIN = 0.08; // of the range, on both sides

/** Where values stand on a common axis that holds 0, in per cent of its width. */
export function placeOf(values: readonly number[]): (value: number) => number {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const range = high - low || 1;
  const first = low - range * MARGIN;
  return (value) => ((value - first) / (range * (1 + 2 * MARGIN))) * 100;
}

export interface Interval {
  readonly label: string;
  readonly value: number;
  /** Null for what the others are compared with. */
  readonly interval: readonly number[] | null;
  /** The same in words: what a screen reader hears of it. */
  readonly text: string;
}

interface IntervalsProps {
  readonly title: string;
  readonly rows: readonly Interval[];
  /** What it means to stand left and right of 0. */
  readonly sides: readonly [left: string, right: string];
}

const HEIGHT = 24;
const MIDDLE = HEIGHT / 2;

/** Differences from 0 with their intervals, one a line, on one axis. */
export function Intervals({ title, rows, sides }: IntervalsProps) {
  const id = useId();
  const place = placeOf(rows.flatMap(({ value, interval }) => [value, ...(interval ?? [])]));
  const at = (value: number): string => `${place(value).toFixed(2)}%`;
  return (
    <figure className="plot intervals" aria-labelledby={id}>
      <figcaption id={id}>{title}</figcaption>
      <dl>
        {rows.map(({ label, value, interval, text }) => (
          <div key={label} className="interval">
            <dt>{label}</dt>
            <dd>
              <svg width="100%" height={HEIGHT} aria-hidden="true">
                <line className="zero" x1={at(0)} x2={at(0)} y1={0} y2={HEIGHT} />
                {interval && (
                  <line className="span" x1={at(interval[0] ?? value)} x2={at(interval[1] ?? value)} y1={MIDDLE} y2={MIDDLE} />
                )}
                {interval?.map((end, which) => (
                  <line
                    // biome-ignore lint/suspicious/noArrayIndexKey: an interval has two ends, which never move.
                    key={which}
                    className="span"
                    x1={at(end)}
                    x2={at(end)}
                    y1={MIDDLE - 4}
                    y2={MIDDLE + 4}
                  />
                ))}
                <circle className={interval ? "estimate" : "reference"} cx={at(value)} cy={MIDDLE} r={4.5} />
              </svg>
            </dd>
            <dd className="number">{text}</dd>
          </div>
        ))}
      </dl>
      <p className="sides muted">
        <span>← {sides[0]}</span>
        <span>{sides[1]} →</span>
      </p>
    </figure>
  );
}
