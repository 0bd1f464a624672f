import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";

const agent = new Agent({ keepAlive: true });

/** One call. Gives the answer's text; `body` may be a text or pieces of one. */
export async function call(url, { method = "GET", type = "application/json", body } = {}) {
  const asked = request(url, { method, agent, headers: body === undefined ? {} : { "content-type": type } });
  const answered = once(asked, "response");
  await pipeline(body === undefined ? [] : typeof body === "string" ? [body] : body, asked);
  const [response] = await answered;
  const text = await response.setEncoding("utf8").reduce((all, part) => all + part, "");
  if (response.statusCode >= 300) throw new Error(`${method} ${url}: ${response.statusCode} ${text.slice(0, 300)}`);
  return text;
}

const share = (sorted, part) => Number((sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN).toFixed(1));

/**
 * Calls the paths in turn, with `readers` at once, until `done` settles or each has asked `rounds` times. Gives how long the
 * answers took, in milliseconds.
 */
export async function read({ url, paths, readers = 1, rounds = Number.POSITIVE_INFINITY, done = null }) {
  const times = [];
  let [going, failed] = [true, 0];
  const ended = done?.finally(() => {
    going = false;
  });
  const reader = async (_, first) => {
    for (let turn = first; going && turn < first + rounds; turn += 1) {
      const start = performance.now();
      await call(`${url}${paths[turn % paths.length]}`).catch(() => {
        failed += 1;
      });
      times.push(performance.now() - start);
    }
  };
  await Promise.all([ended, ...Array.from({ length: readers }, reader)]);
  times.sort((a, b) => a - b);
  return { answers: times.length, failed, p50: share(times, 0.5), p99: share(times, 0.99), max: share(times, 1) };
}

/** Runs `work` beside processes that only compute, one for each of `cores`. */
export async function besideHogs(cores, work) {
  const hogs = Array.from({ length: cores }, () => spawn(process.execPath, ["--eval", "for (;;);"], { stdio: "ignore" }));
  await delay(500);
  try {
    return await work();
  } finally {
    for (const hog of hogs) hog.kill("SIGKILL");
  }
}
