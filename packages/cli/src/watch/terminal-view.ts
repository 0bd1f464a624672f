import type { JobDetails } from "@imprint/contracts";
import type { Io } from "../io.js";
import { CLEAR_LINE, fit } from "../output/bar.js";
import { duration } from "../output/text.js";
import { phaseOf, planOf } from "./phase.js";
import type { View } from "./plain-view.js";
import { barOf } from "./progress.js";

const FRAMES = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
const FRAME_MS = 120;

/** One line that is drawn again and again, and a line for each phase that is over. */
export function terminalView({ err, paint: { err: paint } }: Pick<Io, "err" | "paint">): View {
  let job: JobDetails | null = null;
  let frame = 0;
  let phase = "";
  let since = performance.now();
  let planned = false;

  const elapsed = (): string => duration((performance.now() - since) / 1000);
  const draw = (): void => {
    if (job === null) return;
    const sign = paint("cyan", FRAMES[frame++ % FRAMES.length] ?? "");
    const text = barOf(job, paint) ?? `${phase}  ${paint("dim", elapsed())}`;
    err.write(CLEAR_LINE + fit(`${sign} ${text}`, err.columns || 80));
  };
  const settle = (line: string): void => void err.write(`${CLEAR_LINE}${line}\n`);
  const timer = setInterval(draw, FRAME_MS);

  return {
    update: (next) => {
      const words = phaseOf(next);
      if (words !== phase) {
        const sign = next.status === "failed" ? paint("red", "✗") : paint("green", "✓");
        if (phase !== "" && job !== null) settle(`${sign} ${phase}  ${paint("dim", elapsed())}`);
        phase = words;
        since = performance.now();
      }
      job = next;
      const plan = planned ? null : planOf(next);
      if (plan !== null) {
        planned = true;
        settle(`  ${paint("dim", plan)}`);
      }
      draw();
    },
    log: (line) => {
      settle(paint("dim", `  ${line}`));
      draw();
    },
    pause: (): void => {
      job = null;
      err.write(CLEAR_LINE);
    },
    end: () => {
      clearInterval(timer);
      err.write(CLEAR_LINE);
    },
  };
}
