import { beforeAll, describe, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

const env = { IMPRINT_DATA_DIR: "/nonexistent/imprint" };

describe("wrong usage ends with 2 and a sentence", () => {
  it.each([
    ["trian s", "unknown command 'trian'", "Did you mean train?"],
    ["train s --epohcs 3", "unknown option '--epohcs'", "Did you mean --epochs?"],
    ["train", "missing required argument 'session'", ""],
    ["train s --epochs 0", "--epochs must be >= 1", ""],
    ["train s --method lorra", "--method", "lora, hypernetwork"],
    ["train a/b", "there is no file a/b: SESSION is an id, or the file of a recorded session", ""],
    ["jobs --status done", "--status", "queued, running"],
    ["jobs --limit 0", "--limit takes a whole number from 1 to 1000", ""],
    ["label s good", "'outcome'", "success, failure"],
    ["import . --outcome good", "--outcome", "success, failure"],
    ["import", "missing required argument 'path'", ""],
    ["import /nonexistent/a /nonexistent/b", "/nonexistent/a: there is no such file or folder", ""],
    ["inspect /nonexistent/a", "there is no such file", ""],
    ["chat a --temperature 3", "--temperature takes a number from 0 to 2", ""],
    ["chat a --max-tokens 0", "--max-tokens takes a whole number from 1", ""],
    ["chat a", "the prompt is empty", ""],
    ["serve --port 99999", "--port", "65535"],
    ["serve --host 0.0.0.0", "token", ""],
    ["jobs --url nowhere", "--url nowhere is no address", ""],
  ])("imprint %s", async (line, sentence, more) => {
    const { code, stdout, stderr } = await imprint(line.split(" "), { env });
    expect(stderr).toContain(`error: `);
    expect(stderr).toContain(sentence);
    expect(stderr).toContain(more);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  it("and with --json in one document too", async () => {
    const { code, stdout } = await imprint(["train", "s", "--rank", "x", "--json"], { env });
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "USAGE", message: '--rank takes a whole number, not "x"' } });
  });

  it("a missing command shows the help", async () => {
    const { code, stdout, stderr } = await imprint([], { env });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("Usage: npx imprint");
  });
});

it.each([["--help"], ["help train"], ["train --help"]])("imprint %s prints help with examples and ends with 0", async (line) => {
  const { code, stdout, stderr } = await imprint(line.split(" "), { env });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("$ npx imprint");
});

it("a service that does not answer is a failure, not wrong usage", async () => {
  const { code, stderr } = await imprint(["jobs", "--url", "http://127.0.0.1:1"], { env });
  expect(code).toBe(1);
  expect(stderr).toContain("is the service running? npx imprint serve starts it");
});
