import fc from "fast-check";
import { expect, test } from "vitest";
import { type Choice, type Chosen, chooseForRun, chooseReplay, type Member } from "../../src/projects/choose.js";

const dayOf = (day: number): string => new Date(Date.UTC(2026, 0, 1 + day)).toISOString();

const member = (at: number, changes: Partial<Member> = {}): Member => ({
  session_id: `s${at}`,
  content: `c${at}`,
  opening: `o${at}`,
  at: dayOf(at),
  tokens: 5_000,
  ...changes,
});

const members = (count: number): Member[] => Array.from({ length: count }, (_, at) => member(at));

const choose = (changes: Partial<Choice>): Chosen => {
  const chosen = chooseForRun({ members: [], seen: [], learned: [], replayTokens: 20_000, seed: 1, settings: {}, ...changes });
  if ("reason" in chosen) throw new Error(chosen.reason);
  return chosen;
};

const ids = (picks: readonly { readonly session_id: string }[]): string[] => picks.map(({ session_id }) => session_id);

test.each([
  [2, ["s1"]],
  [9, ["s8"]],
  [10, ["s8", "s9"]],
  [40, ["s35", "s36", "s37", "s38", "s39"]],
])("of %i sessions the newest fifth is held out, one at least and five at most", (count, heldOut) => {
  const chosen = choose({ members: members(count) });
  expect(ids(chosen.held_out)).toEqual(heldOut);
  expect(chosen.new).toHaveLength(count - heldOut.length);
});

test("of short sessions two are held out where there are four, since one says nothing beyond itself", () => {
  const short = members(4).map((one) => ({ ...one, tokens: 1_000 }));
  expect(ids(choose({ members: short }).held_out)).toEqual(["s2", "s3"]);
  expect(ids(choose({ members: short.slice(0, 3) }).held_out)).toEqual(["s2"]);
  expect(ids(choose({ members: short, seen: short.slice(0, 3), learned: short.slice(0, 2) }).new)).toEqual(["s2"]);
});

test("recordings that begin alike stand on one side, whichever of them is the newest", () => {
  const forked = [member(0, { opening: "same" }), member(1), member(2), member(3, { opening: "same" })];
  const chosen = choose({ members: forked });
  expect([ids(chosen.new), ids(chosen.held_out)]).toEqual([
    ["s1", "s2"],
    ["s0", "s3"],
  ]);
});

test("where all that is new would be held out fewer are, and where that is the newest alone it waits", () => {
  const all = members(10);
  const learned = all.slice(0, 8);
  expect(ids(choose({ members: all, seen: learned, learned }).new)).toEqual(["s8"]);
  const waits = chooseForRun({
    members: all,
    seen: all.slice(0, 9),
    learned: all.slice(0, 9),
    replayTokens: 0,
    seed: 1,
    settings: {},
  });
  expect(waits).toEqual({ reason: expect.stringContaining("the next session brings it in") });
});

test.each([
  [0, "none of its sessions can be trained on"],
  [1, "one session is to learn from and another to be tested on: it goes on with the next session"],
])("of %i sessions nothing is trained", (count, reason) => {
  expect(chooseForRun({ members: members(count), seen: [], learned: [], replayTokens: 0, seed: 1, settings: {} })).toEqual({
    reason,
  });
});

test("half of the replay is the newest, the rest a spread that the seed decides", () => {
  const learned = members(100).map((one) => ({ ...one, tokens: 1_000 }));
  const replayed = ids(chooseReplay(learned, { budget: 20_000, seed: 7 }));
  expect(replayed).toHaveLength(20);
  expect(replayed.slice(-10)).toEqual(ids(learned.slice(-10)));
  const spread = replayed.slice(0, 10).map((id) => Number(id.slice(1)));
  expect(Math.min(...spread)).toBeLessThan(45);
  expect(replayed).toEqual(ids(chooseReplay([...learned].reverse(), { budget: 20_000, seed: 7 })));
  expect(replayed).not.toEqual(ids(chooseReplay(learned, { budget: 20_000, seed: 8 })));
});

test("whatever sessions there are: nothing stands on both sides, all that is new is trained, and replay keeps its budget", () => {
  const anyMember = fc.record({
    at: fc.nat(400),
    opening: fc.nat(30),
    tokens: fc.nat(9_000),
    learned: fc.boolean(),
    seen: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(anyMember, { maxLength: 40 }), fc.nat(40_000), fc.nat(), (drawn, replayTokens, seed) => {
      const all = drawn.map(({ at, opening, tokens }, n) => member(n, { at: dayOf(at), opening: String(opening), tokens }));
      const learned = all.filter((_one, n) => drawn[n]?.learned);
      const seen = all.filter((_one, n) => drawn[n]?.seen || drawn[n]?.learned);
      const choice = { members: all, seen, learned, replayTokens, seed, settings: {} };
      const chosen = chooseForRun(choice);
      if ("reason" in chosen) return;
      expect(chooseForRun({ ...choice, members: all.toReversed() })).toEqual(chosen);
      const trained = ids([...chosen.new, ...chosen.replayed]);
      const tested = ids(chosen.held_out);
      expect(new Set([...trained, ...tested]).size).toBe(trained.length + tested.length);
      expect(chosen.new.length).toBeGreaterThan(0);
      expect(tested.length).toBeGreaterThan(0);
      const of = (id: string): Member => all.find((one) => one.session_id === id) as Member;
      const openings = new Set(tested.map((id) => of(id).opening));
      for (const id of trained) expect(openings.has(of(id).opening)).toBe(false);
      const left = all.filter((one) => !learned.includes(one) && !openings.has(one.opening));
      expect([...ids(chosen.new)].sort()).toEqual(ids(left).sort());
      for (const { session_id } of chosen.replayed) expect(learned.map((one) => one.session_id)).toContain(session_id);
      expect(chosen.replayed.reduce((sum, { session_id }) => sum + of(session_id).tokens, 0)).toBeLessThanOrEqual(replayTokens);
    }),
  );
});
