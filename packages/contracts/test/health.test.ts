import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { VERSION } from "../src/health.js";

test("the version is that of the package", () => {
  expect(VERSION).toBe(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
});
