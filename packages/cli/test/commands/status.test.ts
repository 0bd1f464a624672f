import { readdir, utimes } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { home } from "../support/home.js";
import { imprint } from "../support/imprint.js";
import { servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 180_000 });
beforeAll(build, 120_000);

it("says what is new since the newest adapter, and the one thing to do next", async () => {
  const { env, ...at } = await servedPlace();
  const HOME = await home({ shop: [3, 2], ledger: [90] });
  const asked = async (HOME: string): Promise<string> => {
    const { code, stdout, stderr } = await imprint(["status"], { ...at, env: { ...env, HOME } });
    expect(code, stderr).toBe(0);
    return stdout;
  };
  expect(await asked(await home({}))).toMatch(/newest adapter +none\nrecorded +nothing\nnext +.*imprint demo\n$/);
  expect(await asked(HOME)).toMatch(/recorded +shop \(2\), ledger \(1\)\nnext +.*imprint start\n$/);

  expect(await imprint(["start", "--yes"], { ...at, env: { ...env, HOME } })).toMatchObject({ code: 0 });
  expect(await asked(HOME)).toMatch(/of 2 sessions: \w.*\nrecorded since +nothing\nnext +.*imprint evaluate \S+\n$/);

  const projects = path.join(HOME, ".claude", "projects");
  const ledger = path.join(projects, (await readdir(projects)).find((name) => name.endsWith("ledger")) ?? "");
  const [file = ""] = await readdir(ledger);
  const later = Date.now() / 1000 + 60;
  await utimes(path.join(ledger, file), later, later);
  expect(await asked(HOME)).toMatch(/recorded since +ledger \(1\)\nnext +.*imprint evaluate \S+\n$/);
});
