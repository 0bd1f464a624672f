import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { checkDataDir, checkDisk, checkMemory, checkNode } from "../../src/doctor/machine.js";

async function folder(): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), "imprint-doctor-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  return root;
}

it.each([
  ["18.20.4", "missing"],
  ["20.18.1", "missing"],
  ["20.19.0", "ok"],
  ["22.0.0", "ok"],
])("Node %s is %s", (version, status) => {
  expect(checkNode(version).status).toBe(status);
});

it("makes the data directory and leaves nothing in it", async () => {
  const dataDir = path.join(await folder(), "deep", "data");
  expect(await checkDataDir(dataDir)).toEqual({ name: "data directory", status: "ok", detail: dataDir });
  expect(await readdir(dataDir)).toEqual([]);
});

it("says why a data directory cannot be written", async () => {
  const file = path.join(await folder(), "file");
  await writeFile(file, "");
  const finding = await checkDataDir(path.join(file, "data"));
  expect(finding).toMatchObject({ status: "missing", detail: expect.stringContaining("cannot be written (ENOTDIR)") });
  expect(finding.remedy).toContain("--data-dir");
});

it("asks the disk of a data directory that is not there yet", async () => {
  expect((await checkDisk(path.join(await folder(), "not", "yet"))).detail).toMatch(/^\d.* free$/);
});

it("warns of a machine too small for the default model", () => {
  expect(checkMemory(16e9, 8e9)).toMatchObject({ status: "ok", detail: "8.0 GB free of 16.0 GB" });
  expect(checkMemory(4e9, 1e9).status).toBe("warning");
});
