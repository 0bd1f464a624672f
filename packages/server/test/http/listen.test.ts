import { expect, test } from "vitest";
import { ConfigError } from "../../src/common/error.js";
import { explainListen } from "../../src/http/listen.js";

const failure = (code: string): Error => Object.assign(new Error(`listen ${code}`), { code });

test("a port that needs rights is a setting to change, and the sentence names the address and the flag", async () => {
  const error = await explainListen(failure("EACCES"), { host: "::1", port: 80 });
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).toBe(
    "This user may not listen on [::1]:80: choose another port with --port, or any free one with --port 0.",
  );
});

test("an error of another kind stays what it is", async () => {
  const error = failure("EBADF");
  expect(await explainListen(error, { host: "127.0.0.1", port: 1 })).toBe(error);
});
