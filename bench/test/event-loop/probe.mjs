// Loaded into the service with --import: watches its event loop between the messages "begin" and "end" of its parent.
import { openSync, readSync } from "node:fs";
import { createHistogram, monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 1;
const MS = 1e6;

const inMs = (histogram) => {
  const ms = (nanoseconds) => Number((nanoseconds / MS).toFixed(1));
  return { p50: ms(histogram.percentile(50)), p99: ms(histogram.percentile(99)), max: ms(histogram.max), ticks: histogram.count };
};

/** How many nanoseconds this process's main thread has computed, and was ready to without a core. Null where there is no Linux. */
function openScheduling() {
  try {
    const file = openSync("/proc/self/schedstat", "r");
    const buffer = Buffer.alloc(64);
    return () => {
      const [computed, waited] = buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0)).split(" ");
      return { computed: Number(computed), waited: Number(waited) };
    };
  } catch {
    return null;
  }
}

/** Histograms, from tick to tick of a timer: the time without that of waiting for a core, and what of it was computing. */
function watchShares(scheduling) {
  const [own, computed] = [createHistogram(), createHistogram()];
  let last = { at: process.hrtime.bigint(), ...scheduling() };
  const tick = () => {
    const now = { at: process.hrtime.bigint(), ...scheduling() };
    own.record(Math.max(1, Number(now.at - last.at) - (now.waited - last.waited)));
    computed.record(Math.max(1, now.computed - last.computed));
    last = now;
  };
  const timer = setInterval(tick, RESOLUTION_MS).unref();
  return () => {
    clearInterval(timer);
    return { own_ms: inMs(own), computed_ms: inMs(computed) };
  };
}

function watch(scheduling) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const shares = scheduling ? watchShares(scheduling) : () => ({ own_ms: null, computed_ms: null });
  return () => {
    delay.disable();
    const mib = (bytes) => Math.round(bytes / 2 ** 20);
    const { maxRSS } = process.resourceUsage();
    return { delay_ms: inMs(delay), ...shares(), rss_mib: mib(process.memoryUsage.rss()), peak_rss_mib: mib(maxRSS * 1024) };
  };
}

const scheduling = openScheduling();
let end = null;
process.on("message", (word) => {
  if (word === "begin") end = watch(scheduling);
  if (word === "end") process.send(end());
});
process.channel?.unref();
