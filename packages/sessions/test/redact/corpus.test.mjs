import { importSessions } from "@imprint/sessions";
import { describe, expect, it } from "vitest";
import { importer, nothing } from "./corpus/candidates.mjs";
import { FORMS, plainCases, secretCases, TEXTS } from "./corpus/cases.mjs";
import { survives } from "./corpus/judge.mjs";
import { measure } from "./corpus/measure.mjs";
import { PLACES } from "./corpus/places.mjs";
import { half } from "./corpus/split.mjs";

const tune = (entry) => half(entry) === "tune";

const share = (results) => results.filter((one) => one.hit).length / results.length;
/** Names with their places, for the sentence of a failure. */
const named = (results, hit) => results.filter((one) => one.hit === hit).map(({ name, place }) => `${name}: ${place}`);

describe("the corpus", () => {
  it("has the forms, texts and places that the goal speaks of, each under a name of its own, in each half", () => {
    const of = (entries, side) => entries.filter((entry) => half(entry) === side).length;
    expect([of(FORMS, "tune"), of(FORMS, "held-out")]).toEqual([694, 109]);
    expect([of(TEXTS, "tune"), of(TEXTS, "held-out")]).toEqual([275, 55]);
    expect(Object.keys(PLACES)).toHaveLength(8);
    const names = [...FORMS, ...TEXTS].map((entry) => entry.name);
    expect(new Set(names).size).toBe(names.length);
  });

  it("draws the same for the same seed, and other passwords for another seed and at another place", () => {
    const only = (form) => ["env-password", "env-hex-32", "aws-credentials-file"].includes(form.name);
    const pieces = (seed) => secretCases(seed, only).map((one) => one.pieces.join("\n"));
    expect(pieces("a")).toEqual(pieces("a"));
    const both = [...pieces("a"), ...pieces("b")];
    expect(new Set(both).size).toBe(both.length);
  });

  it("hides a secret in every form and in no text", () => {
    for (const one of secretCases("a")) expect(one.pieces.join("").length, one.entry.name).toBeGreaterThanOrEqual(6);
    for (const one of plainCases("a")) expect(one.pieces, one.entry.name).toEqual([]);
  });

  it("counts nothing as found and nothing as false where nothing is redacted", async () => {
    const { found, copies, false: changed } = await measure({ candidate: nothing, seed: "a" });
    for (const results of [found, copies, changed]) expect(results.filter((one) => one.hit)).toEqual([]);
  });
});

describe("survives", () => {
  it("sees half of a secret, in any depth of JSON", () => {
    const secret = 'ab"cdefgh\\ijklmn';
    expect(survives(secret, `x ${secret} y`)).toBe(true);
    expect(survives(secret, JSON.stringify(JSON.stringify({ secret })))).toBe(true);
    expect(survives(secret, "x cdefgh\\i y")).toBe(true);
    expect(survives(secret, "x cdef y ghijk")).toBe(false);
  });
});

describe("redaction on the tune half", () => {
  it("finds 99 of 100 secrets and changes at most 2 of 100 other texts", { timeout: 60_000 }, async () => {
    const measured = await measure({ candidate: importer(importSessions), seed: "test-1", only: tune });
    expect(share(measured.found), named(measured.found, false).join("\n")).toBeGreaterThanOrEqual(0.99);
    expect(share(measured.false), named(measured.false, true).join("\n")).toBeLessThanOrEqual(0.02);
    expect(share(measured.copies)).toBeGreaterThanOrEqual(0.99);
  });
});
