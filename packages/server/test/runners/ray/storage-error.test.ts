import { S3ServiceException } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/common/clock.js";
import { isUnreachable, storageError, whileUnreachable } from "../../../src/runners/ray/storage-error.js";
import { quietLog } from "../../common/quiet-log.js";

const answered = (name: string, httpStatusCode: number): Error =>
  new S3ServiceException({ name, $fault: "client", $metadata: { httpStatusCode }, message: "m" });
const failedWith = (code: string): Error => Object.assign(new Error("m"), { code });

test.each<readonly [Error, string, RegExp]>([
  [failedWith("ENOSPC"), "DISK_FULL", /full \(ENOSPC\)/],
  [failedWith("EACCES"), "STORAGE_FAILED", /EACCES/],
  [failedWith("ECONNREFUSED"), "STORAGE_FAILED", /ECONNREFUSED/],
  [answered("XMinioStorageFull", 507), "DISK_FULL", /full \(XMinioStorageFull\)/],
  [answered("QuotaExceeded", 403), "DISK_FULL", /QuotaExceeded/],
  [answered("AccessDenied", 403), "STORAGE_FAILED", /AccessDenied/],
  [answered("Unknown", 403), "STORAGE_FAILED", /HTTP 403/],
  [Object.assign(new Error("m"), { name: "CredentialsProviderError" }), "STORAGE_FAILED", /CredentialsProviderError/],
])("%s of the storage is %s for the job", (error, code, message) => {
  expect(storageError(error)).toMatchObject({ code, message: expect.stringMatching(message) });
});

test("what is no error of the storage stays what it is", () => {
  const error = new Error("m");
  expect(storageError(error)).toBe(error);
});

test.each<readonly [Error, boolean]>([
  [answered("SlowDown", 503), true],
  [answered("InternalError", 500), true],
  [failedWith("ECONNRESET"), true],
  [failedWith("ENOTFOUND"), true],
  [answered("XMinioStorageFull", 507), false],
  [answered("AccessDenied", 403), false],
  [failedWith("ENOSPC"), false],
  [failedWith("EIO"), false],
])("%s can be asked again: %s", (error, again) => {
  expect(isUnreachable(error)).toBe(again);
});

test("a store that does not answer is asked again, one that refuses is not", async () => {
  const patience = {
    signal: new AbortController().signal,
    askMs: 1,
    limits: { patienceMs: 60_000 },
    clock: systemClock(),
    log: quietLog(),
  };
  const answers = [failedWith("ECONNREFUSED"), answered("SlowDown", 503)];
  const act = async (): Promise<string> => {
    const [error] = answers.splice(0, 1);
    if (error) throw error;
    return "stored";
  };
  expect(await whileUnreachable(act, patience)).toBe("stored");
  const denied = answered("AccessDenied", 403);
  await expect(whileUnreachable(() => Promise.reject(denied), patience)).rejects.toBe(denied);
});
