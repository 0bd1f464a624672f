import { rm } from "node:fs/promises";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { home } from "../support/home.js";
import { imprint } from "../support/imprint.js";
import { servedPlace } from "../support/service.js";
import { onTerminal } from "../support/terminal.js";

vi.setConfig({ testTimeout: 180_000 });
beforeAll(build, 120_000);

it("lists repositories, keeps the recordings, trains on the one with most work of late, and says how to run an agent on it", async () => {
  const at = await servedPlace();
  const HOME = await home({ shop: [3, 2, 4], ledger: [90, 80, 70], gone: [1] });
  await rm(path.join(HOME, "code", "gone"), { recursive: true });
  const ended = await imprint(["start", "--yes"], { ...at, env: { ...at.env, HOME, FORCE_COLOR: "1" } });
  const [stdout, stderr] = [ended.stdout, ended.stderr].map(stripVTControlCharacters);
  expect(ended.code, stderr).toBe(0);
  expect(`${stdout}${stderr}`).not.toContain("\\u001b");
  expect(stderr).toMatch(/1 +shop +3 .*\n2 +ledger +3 /);
  expect(stderr).toContain("1 file more of no folder that is still there");
  expect(stderr).toContain(`3 sessions in ${path.join(HOME, "code", "shop")}, 3 of them new here.`);
  expect(stdout).toContain("7 new, 0 changed");
  expect(stdout).toContain("code/shop && ");
  expect(stdout).toMatch(/launch claude latest\n$/);
});

it("asks two questions on a terminal, and does as it is answered", async () => {
  const at = await servedPlace();
  const HOME = await home({ shop: [3, 2], ledger: [90] });
  const said = await onTerminal(["start"], { env: { ...at.env, HOME }, answers: ["n", "2"] });
  expect(said.match(/\[[^\]]*\] /g)).toEqual(["[Y/n] ", "[1: shop, the most work of late] "]);
  expect(said).toMatch(/1 session in .*ledger/);
  expect(said).not.toContain("0 changed");
  expect(said).toMatch(/code\/ledger && .* launch claude latest/);
});

it("a Ctrl-C at a question is no answer: nothing is kept", async () => {
  const at = await servedPlace();
  const HOME = await home({ shop: [3] });
  const said = await onTerminal(["start"], { env: { ...at.env, HOME }, answers: ["\u0003"] });
  expect(said).toContain("Stopped, and nothing more was done.");
  expect(said).not.toContain("Kept in");
});

it("where nobody answers, and where nothing was recorded, it says what to do", async () => {
  const HOME = await home({});
  expect(await imprint(["start"], { env: { HOME } })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--yes answers them all"),
  });
  expect(await imprint(["start", "--yes"], { env: { HOME } })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("import FOLDER takes recordings from elsewhere"),
  });
});
