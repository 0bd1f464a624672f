import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.js";
import { makeFolder } from "../support/service.js";

const load = (flags: object, home = makeFolder()) =>
  loadConfig({ env: {}, home, repoRoot: home, flags: { runner: "ray", ray_address: "http://head:8265", ...flags } });

test("a storage is a folder of this machine, or a bucket", () => {
  const home = makeFolder();
  expect(load({ storage: join(home, "shared") }, home).ray?.storage).toEqual({ type: "folder", onNodes: join(home, "shared") });
  expect(load({ storage: "s3://bucket/some/prefix" }).ray?.storage).toEqual({
    type: "s3",
    url: "s3://bucket/some/prefix",
    onNodes: "/var/tmp/imprint",
  });
  expect(load({ storage: "s3://bucket", ray_scratch: "/mnt/nvme" }).ray?.storage).toEqual({
    type: "s3",
    url: "s3://bucket",
    onNodes: "/mnt/nvme",
  });
});

test.each<readonly [object, RegExp]>([
  [{}, /runner ray needs storage/],
  [{ storage: "gs://bucket" }, /storage must be a folder, or s3:/],
  [{ storage: "s3://key:secret@bucket" }, /storage must be a folder, or s3:/],
  [{ storage: "s3://bucket/a/../b" }, /storage must be a folder, or s3:/],
  [{ storage: "s3://bucket?x=1" }, /storage must be a folder, or s3:/],
])("%j is refused with a sentence", (flags, sentence) => {
  expect(() => load(flags)).toThrow(sentence);
});
