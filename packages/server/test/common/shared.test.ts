import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { shared } from "../../src/common/shared.js";

test("who asks while work runs is told of what began after they asked, and all of them of the same", async () => {
  let [begun, running, most] = [0, 0, 0];
  const work = shared(async () => {
    begun += 1;
    running += 1;
    most = Math.max(most, running);
    const answer = begun;
    await turn();
    running -= 1;
    if (answer === 2) throw new Error("broken");
    return answer;
  });
  const first = work();
  await Promise.resolve();
  expect(begun).toBe(1);
  const [second, third] = [work(), work()];
  expect(await first).toBe(1);
  await expect(second).rejects.toThrow("broken");
  await expect(third).rejects.toThrow("broken");
  expect(await Promise.all([work(), work()])).toEqual([3, 3]);
  expect([begun, most]).toEqual([3, 1]);
});
