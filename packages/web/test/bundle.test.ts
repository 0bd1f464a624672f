import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { build } from "../../cli/test/support/build.js";

const FOLDER = fileURLToPath(new URL("../bundle/", import.meta.url));
const LIMIT_BYTES = 200_000;

beforeAll(build, 240_000);

const files = (): readonly string[] => ["index.html", ...readdirSync(`${FOLDER}assets`).map((name) => `assets/${name}`)];
const read = (name: string): string => readFileSync(FOLDER + name, "utf8");

test("the whole dashboard is at most 200 kB gzipped", () => {
  const sizes = files().map((name) => gzipSync(readFileSync(FOLDER + name)).length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(LIMIT_BYTES);
});

test("it loads nothing from another host, and needs neither eval nor inline code", () => {
  const page = read("index.html");
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?:/);
  const loaded = files().filter((name) => /\.(js|css)$/.test(name));
  expect(loaded.length).toBeGreaterThan(1);
  for (const name of loaded) {
    expect(read(name), name).not.toMatch(/\bnew Function\(|\beval\(|@import|url\(/);
  }
});
