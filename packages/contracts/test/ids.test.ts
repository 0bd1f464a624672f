import { AdapterId, BaseModelName, JobId, SessionId } from "@imprint/contracts";
import fc from "fast-check";
import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";

const ids = { SessionId: Compile(SessionId), AdapterId: Compile(AdapterId), JobId: Compile(JobId) };
const hostile = [
  "",
  ".",
  "..",
  "../x",
  "..\\x",
  "a/b",
  "a\\b",
  "%2e%2e%2f",
  "a\0b",
  "a\n",
  " a",
  "-a",
  ".a",
  "a".repeat(10_000),
  "ａ",
  "con:",
];

describe("ids", () => {
  for (const [name, check] of Object.entries(ids)) {
    it.each(hostile)(`${name} refuses %j`, (text) => expect(check.Check(text)).toBe(false));
  }

  it("stay one path component, whatever is accepted", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 140 }), (text) => {
        for (const check of Object.values(ids)) {
          if (check.Check(text)) expect(text).toMatch(/^[A-Za-z0-9][^/\\\0\s]*$/);
        }
      }),
    );
  });

  it("accept what users write", () => {
    expect(ids.AdapterId.Check("parse-duration.v2_1")).toBe(true);
    expect(ids.SessionId.Check("29ccd257-68b1-427f-ae5f-6524b7cb6f20")).toBe(true);
    expect(ids.AdapterId.Check("Upper")).toBe(false);
  });

  it("name a base model by name or hub id, never by path", () => {
    const check = Compile(BaseModelName);
    expect(check.Check("SmolLM2-135M-Instruct")).toBe(true);
    expect(check.Check("Qwen/Qwen3-4B-Instruct-2507")).toBe(true);
    for (const path of ["/etc", "../x", "a/../b", "a/b/c", "./x", "~/x", "C:\\x"]) expect(check.Check(path)).toBe(false);
  });
});
