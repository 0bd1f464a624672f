import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { importSessions } from "@imprint/sessions";
import { describe, expect, it } from "vitest";
import { findSecrets } from "../../src/redact/find-secrets.js";
import { planted, random } from "../support/planted-secrets.js";

const SESSIONS = path.resolve(import.meta.dirname, "../../../../examples/sessions");

/** Every recorded session of the examples. */
const recorded = readdirSync(SESSIONS, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.jsonl?$/.test(entry.name))
  .map((entry) => path.join(entry.parentPath, entry.name));

/** Secrets in each text: enough for all of them to stand in the shortest session. */
const PER_TEXT = 8;

/** The harness's second copy of a result, which is no part of the session. */
const COPY = "toolUseResult";

/** The value with `change` applied to its texts of some length, which are what people, the model and tools said. */
function eachText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return value.length > 40 && /\s/.test(value) ? change(value) : value;
  if (Array.isArray(value)) return value.map((item) => eachText(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, key === COPY ? item : eachText(item, change)]));
}

describe("secrets in recorded sessions", () => {
  it.each(recorded)("are all found among the words of %s", async (file) => {
    const secrets = planted(random(41));
    expect(secrets.length).toBeGreaterThanOrEqual(40);
    expect(new Set(secrets.map((one) => one.kind)).size).toBeGreaterThanOrEqual(15);
    const original = readFileSync(file, "utf8");
    const isLines = file.endsWith(".jsonl");
    let next = 0;
    const plant = (text: string): string => {
      const half = text.indexOf(" ", text.length / 2);
      const lines = Array.from({ length: PER_TEXT }, () => secrets[next++ % secrets.length]?.line);
      return `${text.slice(0, half)}\n${lines.join("\n")}\n${text.slice(half)}`;
    };
    const records = isLines ? original.trim().split("\n") : [original];
    const changed = records.map((record) => JSON.stringify(eachText(JSON.parse(record), plant))).join("\n");
    expect(next).toBeGreaterThanOrEqual(secrets.length);
    const { sessions, redactions } = await importSessions([{ name: path.basename(file), bytes: Buffer.from(changed) }]);
    const said = JSON.stringify(sessions);
    const leaked = secrets.filter(({ secret }) => said.includes(JSON.stringify(secret).slice(1, -1)));
    expect(leaked.map((one) => one.line)).toEqual([]);
    expect(redactions.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(secrets.length);
    expect(new Set(redactions.map(({ kind }) => kind))).toEqual(new Set(secrets.map(({ kind }) => kind)));
  });
});

describe("code that holds no secret", () => {
  const resolve = createRequire(import.meta.url).resolve;
  const packages = ["typescript", "vitest", "fast-check", "@biomejs/biome"];

  it.each(packages)("raises less than one alarm per 100 kB: %s", (name) => {
    const folder = path.dirname(resolve(`${name}/package.json`));
    const texts = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:[cm]?[jt]s|json)$/.test(entry.name) && entry.name !== "package.json")
      .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), "utf8"));
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    const alarms = texts.flatMap((text) => findSecrets(text).map(({ start, end, kind }) => `${kind}: ${text.slice(start, end)}`));
    expect(length).toBeGreaterThan(100_000);
    expect(alarms.length / (length / 100_000), alarms.join("\n")).toBeLessThan(1);
  });
});
