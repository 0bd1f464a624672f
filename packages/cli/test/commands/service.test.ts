import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { place, serve } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

/** A home whose systemctl writes down what it is asked, and ends as told. */
async function home(ending = "exit 0") {
  const at = await place();
  const bin = path.join(at.root, "bin");
  const asked = path.join(at.root, "asked");
  await mkdir(bin);
  await writeFile(path.join(bin, "systemctl"), `#!/bin/sh\necho "$*" >> "${asked}"\n${ending}\n`);
  await chmod(path.join(bin, "systemctl"), 0o755);
  const env = { ...at.env, HOME: at.root, PATH: `${bin}:${process.env.PATH}` };
  const unit = path.join(at.root, ".config", "systemd", "user", "imprint.service");
  return { at, unit, asked: () => readFile(asked, "utf8"), run: (...args: string[]) => imprint(["service", ...args], { env }) };
}

describe("imprint service", () => {
  it("starts the service of this data directory at each login, and takes that back", async () => {
    const { at, unit, asked, run } = await home();
    expect(await run("status")).toMatchObject({ code: 0, stdout: expect.stringContaining("Not installed") });
    expect(await run("install")).toMatchObject({ code: 0, stdout: expect.stringContaining(unit) });
    const text = await readFile(unit, "utf8");
    expect(text).toMatch(new RegExp(`^ExecStart="${process.execPath}" ".*main.js" "serve" "--data-dir" "${at.dataDir}"$`, "m"));

    const { url } = await serve(at);
    expect((await run("status")).stdout).toBe(`Installed: ${unit}\nRunning at ${url}.\n`);
    expect(await run("install"), "again, over the one that runs").toMatchObject({ code: 0 });
    expect(await run("remove")).toMatchObject({ code: 0, stdout: expect.stringContaining("sessions and adapters stay") });
    const again = ["--user daemon-reload", "--user enable --now imprint"];
    expect(await asked()).toBe(`${[...again, ...again, "--user disable --now imprint"].join("\n")}\n`);
    expect(await run("remove")).toMatchObject({ code: 2, stderr: expect.stringContaining("is not installed") });
  });

  it("says what systemd said where it refuses", async () => {
    const { run } = await home('echo "Failed to connect to bus" >&2; exit 1');
    expect(await run("install")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("systemctl --user daemon-reload failed: Failed to connect to bus"),
    });
  });

  it("takes no place that another service has", async () => {
    const { at, run } = await home();
    const { url } = await serve(at);
    expect(await run("install")).toMatchObject({ code: 1, stderr: expect.stringContaining(`at ${url}: stop it first`) });
  });
});
