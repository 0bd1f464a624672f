import { expect, it } from "vitest";
import { readSince } from "../../src/flags/since.js";

const NOW = Date.parse("2026-02-10T12:00:00Z");
const HOUR = 3_600_000;

it.each([
  ["30m", NOW - HOUR / 2],
  ["12h", NOW - 12 * HOUR],
  ["7d", NOW - 7 * 24 * HOUR],
  ["2w", NOW - 14 * 24 * HOUR],
  ["2026-01-31T10:00:00Z", Date.parse("2026-01-31T10:00:00Z")],
  ["2026-01-31", new Date(2026, 0, 31).getTime()],
])("--since %s is an instant", (text, instant) => expect(readSince(text, NOW)).toBe(instant));

it.each(["", "7", "7x", "yesterday", "2026-13-01", "31.01.2026", "-7d", "2026"])("--since %j is refused", (text) =>
  expect(() => readSince(text, NOW)).toThrow("--since takes a date"),
);
