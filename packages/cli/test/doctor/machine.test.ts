import * as files from "node:fs/promises";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { checkDataDir, checkDisk, checkMemory, checkNode } from "../../src/doctor/machine.js";

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof files>();
  return { ...real, access: vi.fn(real.access), statfs: vi.fn(real.statfs), writeFile: vi.fn(real.writeFile) };
});
beforeEach(() => void vi.resetAllMocks());

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
  expect(finding).toMatchObject({
    status: "missing",
    detail: expect.stringContaining("cannot be written: a file is in the way"),
  });
  expect(finding.remedy).toContain("--data-dir");
});

it("a data directory that takes empty files alone, as on a full disk, is none", async () => {
  vi.mocked(files.writeFile).mockImplementationOnce(async (_path, data) => {
    if (Buffer.byteLength(data as Uint8Array) > 0) throw Object.assign(new Error("full"), { code: "ENOSPC" });
  });
  const finding = await checkDataDir(path.join(await folder(), "data"));
  expect(finding).toMatchObject({ status: "missing", detail: expect.stringContaining("cannot be written: the disk is full") });
});

it("nor is one with a file that this user may not write", async () => {
  const dataDir = await folder();
  const registry = path.join(dataDir, "registry.db");
  await writeFile(registry, "");
  vi.mocked(files.access).mockImplementation(async (place) => {
    if (place === registry) throw Object.assign(new Error("denied"), { code: "EACCES", syscall: "access", path: registry });
  });
  expect(await checkDataDir(dataDir)).toMatchObject({
    status: "missing",
    detail: `${registry} cannot be written: permission is denied`,
  });
});

it("a disk without room for a training is missing, and not only worth knowing", async () => {
  const disk = vi.mocked(files.statfs);
  for (const [blocks, status] of [
    [0, "missing"],
    [100, "missing"],
    [1_000, "warning"],
    [10_000, "ok"],
  ] as const) {
    disk.mockResolvedValueOnce({ bavail: blocks, bsize: 1e6 } as Awaited<ReturnType<typeof files.statfs>>);
    expect((await checkDisk(tmpdir())).status, `${blocks} MB`).toBe(status);
  }
});

it("asks the disk of a data directory that is not there yet", async () => {
  expect((await checkDisk(path.join(await folder(), "not", "yet"))).detail).toMatch(/^\d.* free$/);
});

it("warns of a machine too small for the default model", () => {
  expect(checkMemory(16e9, 8e9)).toMatchObject({ status: "ok", detail: "8.0 GB free of 16.0 GB" });
  expect(checkMemory(4e9, 1e9).status).toBe("warning");
});
