import type { Session, Step } from "@imprint/contracts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { makeCanaries } from "../../src/privacy/canaries.js";
import { type Place, plant } from "../../src/privacy/plant.js";
import { agent, running, sessionOf, user } from "./support.js";

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.string().map(user),
  fc.string().map((text) => agent(text)),
  fc.tuple(fc.string(), fc.string(), fc.string()).map((texts) => running(...texts)),
  fc.string().map((text) => agent(text, { context_only: "failed" })),
  fc.string().map((text) => agent("", { tool_calls: [{ id: "c", name: "apply_patch", arguments: text }] })),
);
const sessions: fc.Arbitrary<readonly Session[]> = fc
  .array(fc.array(step, { maxLength: 6 }), { minLength: 1, maxLength: 3 })
  .map((all) => all.map((steps, index) => sessionOf(steps, `s${index}`)));

/** The text at a place, without the line. */
function textAt(all: readonly Session[], { session_id, step: number, place, index }: Place): string {
  const found = all.find((session) => session.session_id === session_id)?.steps[number];
  if (place === "answer" || place === "request") return found?.text ?? "";
  if (place === "output") return found?.observations?.[index]?.content ?? "";
  return JSON.parse(found?.tool_calls?.[index]?.arguments ?? "{}").command;
}

/** Every string of the sessions with the lines taken away, arguments as what their JSON says. */
const without = (all: readonly Session[], lines: readonly string[]): unknown => {
  const cut = (text: string): string => lines.reduce((rest, line) => rest.replace(line, ""), text);
  const clean = (value: unknown): unknown => {
    if (typeof value === "string") return cut(/^\{"command"/.test(value) ? JSON.parse(value).command : value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(clean);
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, clean(item)]));
  };
  return clean(all);
};

it("each canary stands once, at the end of its place, and nothing else differs", () => {
  fc.assert(
    fc.property(sessions, fc.nat(999), fc.integer({ min: 1, max: 9 }), (all, seed, count) => {
      const before = JSON.stringify(all);
      const canaries = makeCanaries({ seed, count, candidates: 1 });
      const planted = plant({ sessions: all, canaries, trainOn: "all" });
      expect(JSON.stringify(all)).toBe(before);
      if (planted === null) return;
      const lines = canaries.map(({ before: head, value, after }) => `\n${head}${value}${after}`);
      const text = JSON.stringify(planted.sessions);
      for (const [index, { value }] of canaries.entries()) {
        expect(text.split(value)).toHaveLength(2);
        expect(textAt(planted.sessions, planted.places[index] as Place)).toContain(lines[index]);
      }
      expect(without(planted.sessions, lines)).toEqual(without(all, []));
    }),
  );
});

it("the agent writes three of four, in steps that are learned, and reads the fourth before one", () => {
  const all = [
    sessionOf([
      user("Go on."),
      agent("No.", { context_only: "failed" }),
      running("I look.", "ls", "a.txt"),
      agent("Done."),
      running("", "rm a.txt", ""),
    ]),
  ];
  const canaries = makeCanaries({ seed: 1, count: 32, candidates: 1 });
  const places = plant({ sessions: all, canaries, trainOn: "all" })?.places ?? [];
  const named = (chosen: readonly Place[]) => [...new Set(chosen.map(({ step: number, place }) => `${place} ${number}`))].sort();
  expect(named(places.filter((_, index) => index % 8 === 3))).toEqual(["request 0"]);
  expect(named(places.filter((_, index) => index % 8 === 7))).toEqual(["output 2"]);
  expect(named(places.filter((_, index) => index % 4 !== 3))).toEqual(["answer 2", "answer 3", "call 2", "call 4"]);
});

it.each([
  ["final_answer", ["answer 4"]],
  [{ turns: [2] }, ["answer 2"]],
] as const)("what was trained on %j is what canaries are written into", (trainOn, expected) => {
  const all = [sessionOf([user("a"), user("b"), agent("c"), user("d"), agent("e")])];
  const canaries = makeCanaries({ seed: 1, count: 3, candidates: 1 });
  const selection = typeof trainOn === "string" ? trainOn : { turns: [...trainOn.turns] };
  const places = plant({ sessions: all, canaries, trainOn: selection })?.places ?? [];
  expect([...new Set(places.map(({ step: number, place }) => `${place} ${number}`))]).toEqual(expected);
});

it("sessions in which the agent wrote nothing have no place", () => {
  const canaries = makeCanaries({ seed: 1, count: 1, candidates: 1 });
  const all = [sessionOf([user("a"), agent(" "), agent("b", { context_only: "aborted" })])];
  expect(plant({ sessions: all, canaries, trainOn: "all" })).toBeNull();
});
