import { useEffect, useRef, useSyncExternalStore } from "react";
import uPlot from "uplot";
import { short } from "../text/numbers.js";

const dark = window.matchMedia("(prefers-color-scheme: dark)");

const subscribe = (listener: () => void): (() => void) => {
  dark.addEventListener("change", listener);
  return () => dark.removeEventListener("change", listener);
};

/** Changes when the colours do: a canvas does not follow the style sheet by itself. */
const useColorScheme = (): string => useSyncExternalStore(subscribe, () => (dark.matches ? "dark" : "light"));

/** The colour that a custom property of the style sheet has in this scheme: a canvas does not know `light-dark()`. */
function colorOf(name: string): string {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

export interface Line {
  readonly label: string;
  /** Name of the custom property that holds its colour. */
  readonly color: string;
  /** One value for each x; null where it has none. */
  readonly values: readonly (number | null)[];
}

interface PlotProps {
  readonly title: string;
  readonly x: readonly number[];
  readonly lines: readonly Line[];
  /** Plots of one key show the cursor at the same step. */
  readonly sync?: string;
  /** Its axis begins at zero: a small part of what is shown is not to look like much. */
  readonly isFromZero?: boolean;
}

const HEIGHT = 168;
const POINTS_SHOWN = 40;
/** Dashes and gaps of the lines in pixels, so that colour alone tells no line from another; the legend shows the same. */
const DASHES: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [10, 3, 2, 3]];
/** Four colours come back after four lines, with other dashes: sixteen lines differ. */
const dashOf = (at: number): readonly number[] => DASHES[(at + Math.floor(at / DASHES.length)) % DASHES.length] ?? [];

const axis = (values?: (value: number) => string): uPlot.Axis => ({
  stroke: colorOf("--muted"),
  font: "11px system-ui, sans-serif",
  grid: { stroke: colorOf("--grid"), width: 1 },
  ticks: { stroke: colorOf("--grid"), width: 1, size: 4 },
  ...(values && { values: (_plot, ticks) => ticks.map(values) }),
});

type Shape = Pick<PlotProps, "isFromZero"> & { readonly series: readonly Pick<Line, "label" | "color">[] };

const optionsOf = ({ series, isFromZero }: Shape, width: number, sync?: string): uPlot.Options => ({
  width,
  height: HEIGHT,
  legend: { show: false },
  padding: [8, 8, 0, 0],
  cursor: { drag: { x: false, y: false }, ...(sync !== undefined && { sync: { key: sync } }) },
  scales: { x: { time: false }, ...(isFromZero && { y: { range: (_plot, _min, max) => [0, (max || 1) * 1.1] } }) },
  axes: [
    { ...axis((value) => (Number.isInteger(value) ? String(value) : "")), size: 26 },
    // Room for eight digits: learning rates have as many.
    { ...axis(short), size: 64 },
  ],
  series: [
    {},
    ...series.map(({ label, color }, at) => ({
      label,
      dash: [...dashOf(at)],
      stroke: colorOf(color),
      width: 1.75,
      spanGaps: true,
      points: { show: (plot: uPlot) => (plot.data[0]?.length ?? 0) <= POINTS_SHOWN, size: 5, fill: colorOf(color) },
    })),
  ],
});

const latestOf = ({ values }: Line): number | null => values.findLast((value) => value !== null) ?? null;

const described = ({ title, x, lines }: PlotProps): string => {
  const parts = lines.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    const [first, last] = [known[0], known.at(-1)];
    const range = first === undefined || last === undefined ? "no values" : `from ${short(first)} to ${short(last)}`;
    return lines.length === 1 ? range : `${label} ${range}`;
  });
  return `${title}: ${x.length} points, ${parts.join("; ")}`;
};

/** Each line by its colour, its dashes and its name, with where it stands. */
function Legend({ lines }: { readonly lines: readonly Line[] }) {
  return (
    <ul className="legend">
      {lines.map((line, at) => {
        const latest = latestOf(line);
        return (
          <li key={line.label} data-series={(at % DASHES.length) + 1}>
            {line.label} {latest !== null && <b>{short(latest)}</b>}
          </li>
        );
      })}
    </ul>
  );
}

/** A line plot that follows its data, its width and the colour scheme. */
export function Plot(props: PlotProps) {
  const { title, x, lines, sync, isFromZero = false } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const scheme = useColorScheme();
  const shape = JSON.stringify({ series: lines.map(({ label, color }) => ({ label, color })), isFromZero } satisfies Shape);
  const data = useRef<uPlot.AlignedData>([[]]);
  data.current = [[...x], ...lines.map(({ values }) => [...values])];

  // biome-ignore lint/correctness/useExhaustiveDependencies: the scheme is what the colours are read by.
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const made = new uPlot(optionsOf(JSON.parse(shape), element.clientWidth || 300, sync), data.current, element);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape, scheme, sync]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the data is in a ref, so that the plot is made with it too.
  useEffect(() => plot.current?.setData(data.current), [x, lines]);

  const latest = lines.length === 1 && lines[0] ? latestOf(lines[0]) : null;
  return (
    <figure className="plot">
      <figcaption>
        {title}
        {latest !== null && <output>{short(latest)}</output>}
      </figcaption>
      <div ref={place} className="canvas" role="img" aria-label={described(props)} />
      {lines.length > 1 && <Legend lines={lines} />}
    </figure>
  );
}
