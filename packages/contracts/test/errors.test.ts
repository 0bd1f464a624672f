import { ERRORS, ErrorDetail } from "@imprint/contracts";
import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";

describe("error catalogue", () => {
  it.each(Object.entries(ERRORS))("%s says what to do in a sentence", (code, entry) => {
    expect(code).toMatch(/^[A-Z][A-Z_]+[A-Z]$/);
    expect(entry.hint).toMatch(/^[A-Za-z].*\.$/);
    expect(entry.status === null || (entry.status >= 400 && entry.status < 600)).toBe(true);
  });

  it("is the only source of codes", () => {
    const check = Compile(ErrorDetail);
    expect(check.Check({ code: "OUT_OF_MEMORY", message: "m", hint: "h" })).toBe(true);
    expect(check.Check({ code: "MADE_UP", message: "m", hint: "h" })).toBe(false);
  });
});
