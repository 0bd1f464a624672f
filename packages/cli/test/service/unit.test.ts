import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { unitFor } from "../../src/service/unit.js";

const AWKWARD = ["/opt/my node/node", '/home/a%b/"im"$HOME\\print.mjs', "serve"];
const on = (platform: NodeJS.Platform) => ({ platform, env: { XDG_CONFIG_HOME: "/settings" }, user: 501 });

describe("a unit of systemd", () => {
  it("starts the very words, whatever they hold", () => {
    const unit = unitFor(AWKWARD, on("linux"));
    expect(unit?.file).toBe("/settings/systemd/user/imprint.service");
    expect(unit?.text).toContain('ExecStart="/opt/my node/node" "/home/a%%b/\\"im\\"$$HOME\\\\print.mjs" "serve"\n');
  });

  // Where it is not installed nothing else can tell.
  if (existsSync("/usr/bin/systemd-analyze"))
    it("is one that systemd accepts without a word", async () => {
      const folder = await mkdtemp(path.join(tmpdir(), "imprint-unit-"));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const file = path.join(folder, "imprint.service");
      await writeFile(file, unitFor([process.execPath, ...AWKWARD.slice(1)], on("linux"))?.text ?? "");
      expect(execFileSync("systemd-analyze", ["verify", file], { encoding: "utf8", stdio: "pipe" })).toBe("");
    });
});

it("launchd gets the words as XML, and is asked for the user's own session", () => {
  const unit = unitFor([...AWKWARD, "<a&b>"], on("darwin"));
  expect(unit?.text).toContain("<string>&lt;a&amp;b&gt;</string>");
  expect(unit?.text).toContain(`<string>${AWKWARD[1]}</string>`);
  expect(unit?.start).toEqual([["launchctl", "bootstrap", "gui/501", unit?.file]]);
});

it("elsewhere there is none", () => {
  expect(unitFor(AWKWARD, on("win32"))).toBeNull();
});
