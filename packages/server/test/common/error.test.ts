import { expect, test } from "vitest";
import { asImprintError, diskRefusal } from "../../src/common/error.js";
import { unusableDataDirectory } from "../../src/storage/paths.js";

const failing = (code: string): Error =>
  Object.assign(new Error(`${code}: open '/home/me/secret'`), { code, path: "/home/me/secret" });

test.each([
  ["ENOSPC", "DISK_FULL"],
  ["EDQUOT", "DISK_FULL"],
  ["EFBIG", "DISK_FULL"],
  ["SQLITE_FULL", "DISK_FULL"],
  ["EROFS", "FILES_DENIED"],
  ["EACCES", "FILES_DENIED"],
  ["EPERM", "FILES_DENIED"],
  ["SQLITE_READONLY", "FILES_DENIED"],
  ["ENOENT", "INTERNAL_ERROR"],
  ["__proto__", "INTERNAL_ERROR"],
])("%s is %s, with a sentence that names no path and a remedy", (code, expected) => {
  const error = asImprintError(failing(code));
  expect(error.code).toBe(expected);
  expect(error.message).not.toContain("/home/me");
  if (expected === "INTERNAL_ERROR") return expect(diskRefusal(failing(code))).toBeUndefined();
  expect([error.message, error.hint]).toEqual([expect.stringContaining(`(${code})`), expect.stringMatching(/data directory/)]);
  const said = unusableDataDirectory("/data", failing(code)).message;
  expect(said).toContain(`The data directory /data cannot be used: ${diskRefusal(failing(code))}`);
});

test.each(["EMFILE", "ENFILE"])("%s says that too much is open, and what to do", (code) => {
  const { code: named, message, hint } = asImprintError(failing(code));
  expect([named, message]).toEqual(["FILES_DENIED", `As many files and connections are open as may be (${code}).`]);
  expect(hint).toContain("ulimit -n");
});
