// Loaded into the service with --import: watches its event loop between the messages "begin" and "end" of its parent.
import { openSync, readSync } from "node:fs";
import { createHistogram, monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 1;
const MS = 1e6;

const inMs = (histogram) => {
  const ms = (nanoseconds) => Number((nanoseconds / MS).toFixed(1));
  return { p50: ms(histogram.percentile(50)), p99: ms(histogram.percentile(99)), max: ms(histogram.max) };
};

/** How many nanoseconds this process's main thread has computed. Null where there is no Linux. */
function openScheduling() {
  try {
    const file = openSync("/proc/self/schedstat", "r");
    const buffer = Buffer.alloc(64);
    return () => {
      const [computed] = buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0)).split(" ");
      return Number(computed);
    };
  } catch {
    return null;
  }
}

/** A histogram of what was computed from tick to tick of a timer. */
function watchComputing(scheduling) {
  const histogram = createHistogram();
  let last = scheduling();
  const tick = () => {
    const now = scheduling();
    histogram.record(Math.max(1, now - last));
    last = now;
  };
  const timer = setInterval(tick, RESOLUTION_MS).unref();
  return () => {
    clearInterval(timer);
    return inMs(histogram);
  };
}

function watch(scheduling) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const computed = scheduling ? watchComputing(scheduling) : () => null;
  return () => {
    delay.disable();
    return { delay_ms: inMs(delay), computed_ms: computed() };
  };
}

const scheduling = openScheduling();
let end = null;
process.on("message", (word) => {
  if (word === "begin") end = watch(scheduling);
  if (word === "end") process.send(end());
});
process.channel?.unref();
