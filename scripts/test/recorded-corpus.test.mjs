import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { chooseSessions, namedSessions } from "../lib/recorded-corpus.mjs";

const turn = (text) => ({ source: "agent", text: text.padEnd(900, ` ${text}`) });
const session = (id, ...texts) => ({ session_id: id, steps: [{ source: "user", text: "do" }, ...texts.map(turn)] });
const ids = (sessions, seen = new Set()) => chooseSessions(sessions, seen).map((one) => one.session_id);

describe("chooseSessions", () => {
  it("keeps the longer of two recordings that share most turns", () => {
    expect(ids([session("short", "a", "b"), session("long", "a", "b", "c"), session("other", "x", "y")])).toEqual([
      "long",
      "other",
    ]);
  });

  it("leaves out what is short, in another script, or in another group", () => {
    const seen = new Set();
    expect(ids([session("first", "a", "b")], seen)).toEqual(["first"]);
    expect(ids([session("again", "a", "b"), session("short", "q"), session("foreign", "日本語", "漢字")], seen)).toEqual([]);
  });

  it("spreads at most 15 evenly over many", () => {
    const many = Array.from({ length: 45 }, (_, index) => session(index, `a${index}`, `b${index}`));
    expect(ids(many)).toEqual(Array.from({ length: 15 }, (_, index) => 3 * index));
  });
});

describe("namedSessions", () => {
  it("keeps the order that the row names, all sessions where it names none, and refuses what is not there", () => {
    expect(namedSessions(["a", "b", "c"], { group: "g", conversations: [2, 0] })).toEqual(["c", "a"]);
    expect(namedSessions(["a", "b"], { group: "g" })).toEqual(["a", "b"]);
    expect(() => namedSessions(["a"], { group: "g", conversations: [1] })).toThrow("g: there is no conversation 1 among 1.");
  });
});

describe("corpus.json", () => {
  const rows = (name) => JSON.parse(readFileSync(new URL(`../../bench/${name}/corpus.json`, import.meta.url), "utf8"));

  it("has no repository on both sides, nor one that tests adapters", () => {
    const owner = ({ repository }) => repository.split("/")[0].toLowerCase();
    const corpus = rows("hypernetwork");
    const tested = new Set(
      rows("efficacy")
        .filter(({ split }) => split === "test")
        .map(owner),
    );
    const dev = new Set(corpus.filter(({ split }) => split === "dev").map(owner));
    const shared = corpus.filter((row) => tested.has(owner(row)) || (row.split === "train" && dev.has(owner(row))));
    expect(shared.map(({ group }) => group)).toEqual([]);
  });
});
