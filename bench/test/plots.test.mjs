import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { GOALS } from "../jobs/benchmark.mjs";

const RESULTS = new URL("../results/", import.meta.url);
const page = readFileSync(new URL("../../docs/results.md", import.meta.url), "utf8");

/** Of the plot of docs/results.md with this title: its bars, by their names. */
function barsOf(title) {
  const plot = page.split("```mermaid").find((block) => block.includes(`title "${title}"`));
  const list = (word) => JSON.parse(new RegExp(`^ *${word} (\\[.*\\])$`, "m").exec(plot)[1]);
  const [names, bars] = [list("x-axis"), list("bar")];
  expect(bars).toHaveLength(names.length);
  return Object.fromEntries(names.map((name, at) => [name, bars[at]]));
}

it("the plot of tasks shows what the raw rows hold", () => {
  const text = gunzipSync(readFileSync(new URL("tasks.jsonl.gz", RESULTS))).toString();
  const cells = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const tuning = ["operations-3", "pipeline-1", "python-3"];
  const share = (size, row) => {
    const own = cells.filter((cell) => cell.base.includes(size) && cell.row === row && !tuning.includes(cell.repository));
    return Math.round((100 * own.filter(({ outcome }) => outcome === "solved").length) / own.length);
  };
  const now = ", eight passes, by calls";
  expect(barsOf("Held-out tasks solved, %")).toEqual({
    base: share("0.5b", "base"),
    rules: share("0.5b", "rules"),
    session: share("0.5b", "session"),
    other: share("0.5b", `other${now}`),
    imprint: share("0.5b", "imprint"),
    learn3: share("0.5b", "learn3"),
    learn6: share("0.5b", `learn6${now}`),
    learn12: share("0.5b", `learn12${now}`),
    "1.5B": share("1.5b", "base"),
    "its learn12": share("1.5b", `learn12${now}`),
  });
});

it("the plot of speed shows a kept result beside the goals", () => {
  const [kept] = readdirSync(RESULTS).filter((name) => /^jobs-[\d-]+-[\da-f]{12}\.json$/.test(name));
  const { figures } = JSON.parse(readFileSync(new URL(kept, RESULTS), "utf8"));
  expect(page).toContain(`(../bench/results/${kept})`);
  const of = (start) => {
    const [name] = Object.keys(GOALS).filter((one) => one.startsWith(start));
    return Math.round((100 * GOALS[name]) / figures[name]);
  };
  expect(barsOf("Goal, % of what was measured (100: met)")).toEqual({
    start: of("service start"),
    memory: of("its memory"),
    "64 connections": of("99 of 100 requests, 64"),
    "in a training": of("99 of 100 requests while"),
    processor: of("processor"),
    "step, cold": of("request to first step, cold"),
    "step, warm": of("request to first step, warm"),
    proof: of("proof"),
    "imprint, 512": of("imprint of 512"),
    "imprint, 16k": of("imprint of 16384"),
  });
});
