import { existsSync } from "node:fs";
import path from "node:path";
import { PassThrough } from "node:stream";
import { beforeAll, expect, it, vi } from "vitest";
import { systemIo } from "../../src/io.js";
import { run } from "../../src/run.js";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { EXAMPLES, type Place, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 90_000 });
beforeAll(build, 120_000);

const CLAUDE = "5b0f6d1e-9c44-4a7b-8f12-7413c0ffee01";

async function stocked(): Promise<Place & { readonly url: string }> {
  const at = await servedPlace();
  await imprint(["import", EXAMPLES], at);
  for (const id of ["gates-v1", "gates-v2", "harborline-gates"])
    await imprint(["train", "harborline-gates", "--adapter-id", id, "--watch"], at);
  return { ...at, url: at.server.url };
}

const ids = async (at: Place, kind: "session" | "adapter"): Promise<string[]> => {
  const list = JSON.parse((await imprint([`${kind}s`, "--json"], at)).stdout)[`${kind}s`];
  return list.map((one: Record<string, string>) => one[`${kind}_id`]).sort();
};

it("deletes sessions and adapters by their ids or beginnings, and files of adapters only with --purge", async () => {
  const at = await stocked();
  const folder = (id: string): string => path.join(at.dataDir, "adapters", id);
  const kept = await imprint(["delete", "5b0f", "gates-v1", "--yes"], at);
  expect([kept.code, kept.stdout]).toEqual([
    0,
    `Deleted session ${CLAUDE}.\nDeleted adapter gates-v1 from the lists; its files stay.\n`,
  ]);
  expect(existsSync(folder("gates-v1"))).toBe(true);
  const purged = await imprint(["delete", "gates-v2", "--purge", "--yes", "--json"], at);
  expect(JSON.parse(purged.stdout)).toEqual({ deleted: [{ kind: "adapter", id: "gates-v2" }], purged: true });
  expect(existsSync(folder("gates-v2"))).toBe(false);
  expect([await ids(at, "session"), await ids(at, "adapter")]).toEqual([["harborline-gates"], ["harborline-gates"]]);
});

it("refuses what is two things, a job or nothing, and then deletes nothing at all", async () => {
  const at = await stocked();
  await fetch(`${at.url}/projects/shop/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ session_ids: ["harborline-gates"] }), // too few for a run: it makes the project alone
  });
  const { jobs } = JSON.parse((await imprint(["jobs", "--json"], at)).stdout);
  const before = [await ids(at, "session"), await ids(at, "adapter")];
  for (const [id, says] of [
    ["harborline-gates", "add --kind session or --kind adapter"],
    ["latest", "add --kind session or --kind adapter"],
    [jobs[0].job_id, "is a job, and jobs are not deleted"],
    ["nobody", "there is no session or adapter nobody"],
    ["gates", "begins more than one id"],
    ["shop", "shop is a project: add --kind project"],
  ]) {
    const { code, stderr } = await imprint(["delete", "gates-v1", id, "--yes"], at);
    expect([id, code]).toEqual([id, 2]);
    expect(stderr).toContain(says);
  }
  expect(await imprint(["delete", "gates-v1"], at)).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
  expect([await ids(at, "session"), await ids(at, "adapter")]).toEqual(before);
  expect(await imprint(["delete", "shop", "--kind", "project", "--purge", "--yes"], at)).toMatchObject({ code: 2 });
  expect(await imprint(["delete", "sho", "--kind", "project", "--yes"], at)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("there is no project sho"),
  });
  expect(await imprint(["delete", "shop", "--kind", "project", "--yes"], at)).toMatchObject({
    code: 0,
    stdout: "Deleted project shop; its sessions and adapters stay.\n",
  });
  expect([await ids(at, "session"), await ids(at, "adapter")]).toEqual(before);
  expect((await imprint(["delete", "harborline-gates", "--kind", "adapter", "--yes"], at)).code).toBe(0);
  expect(await ids(at, "session")).toContain("harborline-gates");
});

it.each([
  ["y", 0, ["harborline-gates"]],
  ["", 1, [CLAUDE, "harborline-gates"]],
])("asks on a terminal: %j", async (answer, code, left) => {
  const at = await servedPlace();
  await imprint(["import", EXAMPLES], at);
  const [input, err, out] = [0, 1, 2].map(() => Object.assign(new PassThrough(), { isTTY: true }));
  err?.on("data", (text: Buffer) => {
    if (String(text).includes("[y/N]")) input?.write(`${answer}\n`);
  });
  out?.resume();
  const paint = { out: (_: unknown, text: string) => text, err: (_: unknown, text: string) => text };
  const io = { ...systemIo(), input, err, out, paint, env: { ...process.env, ...at.env } } as never;
  expect(await run(["delete", "5b0f"], io)).toBe(code);
  expect(await ids(at, "session")).toEqual(left);
});
