import { readFileSync } from "node:fs";
import http from "node:http";
import { setTimeout as pause } from "node:timers/promises";

const [PER_SECOND, SECONDS] = [200, 5];

const processorMs = (pid) => {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13);
  return (Number(user) + Number(system)) * 10; // told in hundredths of a second
};

/**
 * Asks 200 times a second for five seconds, over kept connections in turn: `ms` from when a request was due to the end of its answer,
 * which 99 of 100 stay below, and `processorMs` that the process `pid` took for one.
 */
export async function asked({ url, pid, connections }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections, scheduling: "fifo" });
  const ask = (due) =>
    new Promise((resolve, reject) => {
      const read = (answer) =>
        answer.statusCode === 200 ? answer.resume().once("end", () => resolve(performance.now() - due)) : reject(new Error(url));
      http.get(url, { agent }, read).once("error", reject);
    });
  await Promise.all(Array.from({ length: connections }, () => ask(0))); // opens them
  const [began, before, asks] = [performance.now(), processorMs(pid), []];
  for (let at = 0; at < PER_SECOND * SECONDS; at += 1) {
    const due = began + (1000 * at) / PER_SECOND;
    await pause(Math.max(0, due - performance.now()));
    asks.push(ask(due));
  }
  const all = (await Promise.all(asks)).toSorted((a, b) => a - b);
  agent.destroy();
  return { ms: all[Math.floor(0.99 * all.length)], processorMs: (processorMs(pid) - before) / all.length };
}
