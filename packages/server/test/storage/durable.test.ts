import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import * as files from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { putInPlace } from "../../src/storage/durable.js";
import { makeFolder } from "../support/service.js";

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof files>();
  return { ...real, link: vi.fn(real.link) };
});

const failing = (code: string): void =>
  void vi.mocked(files.link).mockRejectedValueOnce(Object.assign(new Error(code), { code }));

const place = () => {
  const folder = makeFolder();
  const [path, target] = [join(folder, "new"), join(folder, "stored")];
  writeFileSync(path, "new");
  return { folder, path, target };
};

test.each(["EPERM", "EXDEV", "EMLINK", "ENOTSUP", "EIO"])(
  "what stood in a place stands there again after %s kept it from a second name",
  async (code) => {
    const { path, target } = place();
    writeFileSync(target, "old");
    failing(code);
    const undo = await putInPlace(path, target);
    expect(readFileSync(target, "utf8")).toBe("new");
    await undo();
    expect(readFileSync(target, "utf8")).toBe("old");
  },
);

test("what stood in a place and can be kept in no way stays there, and nothing is renamed", async () => {
  const { path, target } = place();
  mkdirSync(target);
  await expect(putInPlace(path, target)).rejects.toThrow();
  expect(readFileSync(path, "utf8")).toBe("new");
});

test("a link that stood in a place stands there again, and not what it leads to", async () => {
  const { folder, path, target } = place();
  symlinkSync("elsewhere", target);
  failing("EPERM");
  await (await putInPlace(path, target))();
  expect(await files.readlink(join(folder, "stored"))).toBe("elsewhere");
});

test("where nothing stood nothing stands again", async () => {
  const { path, target } = place();
  await (await putInPlace(path, target))();
  await expect(files.lstat(target)).rejects.toThrow(/ENOENT/);
});
