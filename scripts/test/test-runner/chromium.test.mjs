import path from "node:path";
import { expect, test } from "vitest";
import { findChromium } from "../../lib/test/chromium.mjs";

const PATH = [path.join("/", "bin"), path.join("/", "usr", "bin")].join(path.delimiter);
const having = (...files) => ({ env: { PATH }, exists: (file) => files.includes(file) });
const at = (...parts) => path.join("/", ...parts);

test("the first browser on the path is taken, by name before place", () => {
  expect(findChromium(having(at("usr", "bin", "chromium"), at("bin", "google-chrome")))).toBe(at("usr", "bin", "chromium"));
  expect(findChromium(having(at("bin", "google-chrome")))).toBe(at("bin", "google-chrome"));
  expect(findChromium(having())).toBeNull();
});

test("what IMPRINT_CHROMIUM names is taken or nothing is", () => {
  const named = (env) => findChromium({ env: { PATH, ...env }, exists: (file) => file !== "/none" });
  expect(named({ IMPRINT_CHROMIUM: "/opt/browser" })).toBe("/opt/browser");
  expect(named({ IMPRINT_CHROMIUM: "/none" })).toBeNull();
});
