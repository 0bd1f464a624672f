import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { main, UsageError } from "../../harness/main.mjs";

const counting = {
  name: "counting",
  description: "counts to a number",
  options: { to: { type: "string", default: "3" } },
  run: async ({ options, rounds, print }) => {
    print(`counted to ${options.to}`);
    return { to: Number(options.to), rounds };
  },
};

const failing = {
  name: "failing",
  description: "fails",
  options: { with: { type: "string" } },
  run: async ({ options }) => {
    throw options.with === "usage" ? new UsageError("--with is none of those.") : new TypeError("a fault");
  },
};

describe("npm run bench", () => {
  let root;
  let said;
  const run = (...args) =>
    main({
      args,
      benchmarks: [counting, failing],
      root,
      now: new Date("2026-01-05T10:00:00Z"),
      out: (text) => said.out.push(text),
      err: (text) => said.err.push(text),
    });
  const kept = () => readdir(path.join(root, "bench/results")).catch(() => []);

  beforeEach(async () => {
    said = { out: [], err: [] };
    root = await mkdtemp(path.join(tmpdir(), "bench-"));
    const git = (...words) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...words], { cwd: root });
    git("init", "-q");
    git("commit", "-q", "--allow-empty", "-m", "Begin");
  });
  afterEach(() => rm(root, { recursive: true }));

  it("lists the benchmarks when none is named", async () => {
    expect(await run()).toBe(0);
    expect(said.out.join("\n")).toContain("counting       counts to a number");
  });

  it("refuses an unknown name with a sentence that lists those there are", async () => {
    expect(await run("counts")).toBe(2);
    expect(said.err.join("\n")).toMatch(/There is no benchmark "counts".*\n.*counting/s);
    expect(await kept()).toEqual([]);
  });

  it("refuses an option's value that the benchmark cannot use, and keeps nothing; other failures are thrown", async () => {
    expect(await run("failing", "--with", "usage")).toBe(2);
    expect([said.err, await kept()]).toEqual([["failing: --with is none of those."], []]);
    await expect(run("failing")).rejects.toThrow("a fault");
  });

  it.each([["--rounds", "0"], ["--rounds", "x"], ["--fast"], ["more"]])(
    "refuses %s %s and names the options",
    async (...args) => {
      expect(await run("counting", ...args)).toBe(2);
      expect(said.err.join("\n")).toMatch(/^counting: .*--rounds.*--to\.$/s);
    },
  );

  it("keeps the figures with the commit and the machine, without a path or a host name", async () => {
    expect(await run("counting", "--to", "5", "--rounds", "2")).toBe(0);
    const [file, ...others] = await kept();
    expect(others).toEqual([]);
    expect(file).toMatch(/^counting-2026-01-05-[0-9a-f]{12}\.json$/);
    const text = await readFile(path.join(root, "bench/results", file), "utf8");
    expect(JSON.parse(text)).toMatchObject({ benchmark: "counting", dirty: false, rounds: 2, figures: { to: 5, rounds: 2 } });
    expect(Object.keys(JSON.parse(text).machine)).toEqual(["cpu", "cores", "memory_gib", "platform", "node", "python"]);
    expect(said.out).toEqual(["counted to 5", `Kept in bench/results/${file}`]);
  });

  it("prints nothing but the result as JSON, and keeps nothing when told so", async () => {
    expect(await run("counting", "--json", "--no-keep")).toBe(0);
    expect(said.out).toHaveLength(1);
    expect(JSON.parse(said.out[0]).figures).toEqual({ to: 3, rounds: 5 });
    expect(await kept()).toEqual([]);
  });
});
