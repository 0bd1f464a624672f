import { importSessions } from "@imprint/sessions";
import { describe, expect, it } from "vitest";
import { importer, nothing } from "./corpus/candidates.mjs";
import { measureCases } from "./corpus/measure.mjs";
import { otherSecrets, otherTexts } from "./corpus/others/cases.mjs";

const isOpen = (one) => one.half === "tune";
const share = (results) => results.filter((one) => one.hit).length / results.length;
const named = (results, hit) =>
  results.filter((one) => one.hit === hit && one.half === "tune").map(({ name, place }) => `${name}: ${place}`);

describe("the corpus by other hands' facts", () => {
  it("is split by families, and hides a secret in each form and in no text", () => {
    const halves = (cases) => [cases.filter(isOpen).length, cases.filter((one) => !isOpen(one)).length];
    expect([halves(otherSecrets("a")), halves(otherTexts("a"))]).toEqual([
      [1315, 3427],
      [244, 216],
    ]);
    for (const one of otherSecrets("a")) expect(one.pieces.join("").length, one.entry.name).toBeGreaterThanOrEqual(6);
    for (const one of otherTexts("a")) expect(one.pieces, one.entry.name).toEqual([]);
  });

  it("counts nothing as found and nothing as false where nothing is redacted", async () => {
    const given = { secrets: otherSecrets("a").filter(isOpen), texts: otherTexts("a") };
    const { found, false: changed } = await measureCases({ candidate: nothing, ...given });
    expect([...found, ...changed].filter((one) => one.hit)).toEqual([]);
  });
});

describe("redaction of what others write", () => {
  const measured = measureCases({
    candidate: importer(importSessions),
    secrets: otherSecrets("test-1"),
    texts: otherTexts("test-1"),
  });
  const of = async (sort, half) => (await measured)[sort].filter((one) => one.half === half);

  it("finds 99 of 100 opened secrets and changes at most 1 of 100 other texts", { timeout: 60_000 }, async () => {
    expect(share(await of("found", "tune")), named((await measured).found, false).join("\n")).toBeGreaterThanOrEqual(0.99);
    expect(share(await of("false", "tune")), named((await measured).false, true).join("\n")).toBeLessThanOrEqual(0.01);
  });

  it("finds 9 of 10 held-out secrets, of which only the rate is told", { timeout: 60_000 }, async () => {
    expect(share(await of("found", "held-out"))).toBeGreaterThanOrEqual(0.9);
    expect(share(await of("false", "held-out"))).toBeLessThanOrEqual(0.01);
  });
});
