import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { JobDetails } from "@imprint/contracts";
import { expect, it } from "vitest";
import { terminalView } from "../../src/watch/terminal-view.js";
import { job } from "./job.js";

const unpainted = (_style: unknown, text: string): string => text;

/** The lines that stay when a job went through these states. */
function settled(states: readonly Partial<JobDetails>[]): readonly string[] {
  const err = new PassThrough();
  const view = terminalView({ err: err as unknown as NodeJS.WriteStream, paint: { err: unpainted, out: unpainted } });
  for (const state of states) view.update(job(state));
  view.end();
  const lines = stripVTControlCharacters(String(err.read())).split("\n").slice(0, -1);
  return lines.map((line) => (line.split("\r").at(-1) ?? "").replace(/ +\d+:\d\d$/, ""));
}

it.each([
  ["completed", "✓"],
  ["failed", "✗"],
] as const)("of a job that is %s, the phase in which it ended has a %s", (status, sign) => {
  expect(settled([{ phase: "proving" }, { phase: "registering" }, { status, phase: "registering" }])).toEqual([
    "✓ proving the reloaded adapter",
    `${sign} registering the adapter`,
  ]);
});

it.each([
  ["lora", "adapter"],
  ["evaluate", "evaluation"],
  ["export", "export"],
  ["pull", "base model"],
] as const)("what a job of kind %s registers is the %s", (kind, made) => {
  const states = [{ phase: "registering" }, { status: "completed", phase: "registering" }] as const;
  expect(settled(states.map((state) => ({ ...state, kind })))).toEqual([`✓ registering the ${made}`]);
});

it("draws a bar for an evaluation, with what is measured", () => {
  const err = new PassThrough();
  const view = terminalView({ err: err as unknown as NodeJS.WriteStream, paint: { err: unpainted, out: unpainted } });
  view.update(job({ kind: "evaluate", phase: "measuring", measuring: { done: 3, total: 12, what: "neutral\u202e text" } }));
  view.end();
  expect(String(err.read())).toContain(`${"━".repeat(7)}${"─".repeat(21)}  3 of 12  neutral\\u202e text`);
});
