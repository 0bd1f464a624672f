import type { Adapter } from "@imprint/contracts";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Condition } from "../../src/adapters/chips.js";

const chip = (fields: Pick<Adapter, "health" | "verdict"> & Partial<Adapter>): string =>
  renderToStaticMarkup(createElement(Condition, { adapter: { evaluation: null, ...fields } as Adapter }));

test("an imprint that learned is in good condition", () => {
  expect(chip({ health: "ok", verdict: "learned" })).toBe('<span class="chip" data-tone="good">ok</span>');
});

test("an imprint that was kept although it harms is called harmful, never good", () => {
  expect(chip({ health: "ok", verdict: "harms" })).toBe('<span class="chip" data-tone="bad">harmful</span>');
});

test("what an evaluation found harmful has no good tone", () => {
  const evaluation = { verdict: "harms" } as Adapter["evaluation"];
  expect(chip({ health: "ok", verdict: "learned", evaluation })).toBe('<span class="chip">ok</span>');
});
