import os from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { commit } from "../harness/machine.mjs";
import { pieces } from "../import-speed/recordings.mjs";
import { besideHogs, call, read } from "./load.mjs";
import { IMPORTS, LARGE, LONG, putSession } from "./recordings.mjs";
import { startService } from "./service.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LISTS = ["/sessions", "/adapters", "/jobs"];

/** What the service does while its event loop is watched, by name; in this order, as the imports leave sessions for the lists. */
function works({ url, seconds, megabytes }) {
  const readers = (done) => read({ url, paths: LISTS, readers: 16, done });
  const again = (id) => async () => ({
    answers_ms: await read({ url, paths: [`/sessions/${id}`], done: delay(seconds * 1000) }),
  });
  const json = (method, path, body) => call(`${url}${path}`, { method, body: JSON.stringify(body) });
  const imported = (make, size = megabytes) =>
    call(`${url}/sessions`, { method: "POST", type: "application/x-ndjson", body: pieces(make, size) });
  const change = async () => {
    await json("PATCH", `/sessions/${LARGE.id}`, { outcome: "failure" });
    await json("POST", `/sessions/${LARGE.id}/preview`, {});
  };
  const timed = (work) => async () => {
    const start = performance.now();
    await work();
    return { seconds: Number(((performance.now() - start) / 1000).toFixed(1)) };
  };
  return {
    idle: () => delay(seconds * 1000),
    "idle beside computing processes": () => besideHogs(os.availableParallelism(), () => delay(seconds * 1000)),
    "GET of a session of 64 MB": again(LARGE.id),
    "GET of a million steps": again(LONG.id),
    "PATCH and preview of 64 MB": timed(change),
    "import of one session": timed(() => imported(IMPORTS["one session"])),
    "import of many sessions": timed(() => imported(IMPORTS["many sessions"])),
    "import of one session, 16 readers and GETs of both sessions": async () => {
      const done = imported(IMPORTS["one session"], Math.floor(megabytes / 5));
      const both = read({ url, paths: [LARGE, LONG].map(({ id }) => `/sessions/${id}`), done });
      return { answers_ms: await readers(done), gets_ms: await both };
    },
    "16 readers": async () => ({ answers_ms: await readers(delay(seconds * 1000)) }),
  };
}

const three = ({ p50, p99, max }) => `${p50} / ${p99} / ${max} ms`;

/** Medians, 99th percentiles and longest: of the delays, of them without waiting for a core, and of the answers. */
const described = ({ delay_ms, own_ms, answers_ms, rss_mib }) =>
  [
    `delay ${three(delay_ms)}`,
    own_ms && `its own ${three(own_ms)}`,
    answers_ms && `${answers_ms.answers} answers ${three(answers_ms)}, ${answers_ms.failed} failed`,
    `${rss_mib} MiB`,
  ]
    .filter(Boolean)
    .join("; ");

export const benchmark = {
  name: "event-loop",
  description: "how long the service's event loop is held up by imports, large sessions and many readers",
  options: {
    megabytes: { type: "string", default: "500" },
    seconds: { type: "string", default: "5" },
    service: { type: "string", default: ROOT },
  },
  async run({ options, print }) {
    const service = await startService({
      root: options.service,
      fill: (folder) => {
        putSession(folder, LARGE);
        putSession(folder, LONG);
      },
    });
    const figures = { service: commit(options.service), works: {} };
    try {
      const all = works({ url: service.url, seconds: Number(options.seconds), megabytes: Number(options.megabytes) });
      for (const [name, work] of Object.entries(all)) {
        const seen = await service.measured(work);
        figures.works[name] = seen;
        print(`${name}: ${described(seen)}`);
      }
    } finally {
      await service.stop();
    }
    return figures;
  },
};
