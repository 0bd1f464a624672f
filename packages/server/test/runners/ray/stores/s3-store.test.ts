import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSegmentTail, segmentName } from "../../../../src/runners/ray/stores/s3-store.js";

const parts = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 10 });

test("whatever parts come between two looks, all bytes are told once, in order", async () => {
  await fc.assert(
    fc.asyncProperty(parts, fc.array(fc.nat(4), { maxLength: 10 }), async (all, steps) => {
      const there = new Map<string, Buffer>();
      const told: Buffer[] = [];
      const tail = createSegmentTail(
        async (name) => there.get(name) ?? null,
        "events",
        (chunk) => void told.push(chunk),
      );
      let put = 0;
      const putSome = (count: number): void => {
        for (const part of all.slice(put, put + count)) there.set(segmentName("events", put++), Buffer.from(part));
      };
      for (const count of steps) {
        const before = tail.bytes();
        putSome(count);
        expect(await tail.read()).toBe(tail.bytes() > before);
      }
      putSome(all.length);
      await tail.read();
      const whole = Buffer.concat(all.map((part) => Buffer.from(part)));
      expect(Buffer.concat(told)).toEqual(whole);
      expect(tail.sha256()).toBe(createHash("sha256").update(whole).digest("hex"));
      expect(tail.begun()).toBe(all.length > 0);
    }),
  );
});

test("a store that does not answer in between loses nothing", async () => {
  const there = new Map([
    [segmentName("events", 0), "a"],
    [segmentName("events", 1), "b"],
  ]);
  let fails = true;
  const told: string[] = [];
  const read = async (name: string): Promise<Buffer | null> => {
    if (name.endsWith("1") && fails) throw new Error("cut");
    const text = there.get(name);
    return text === undefined ? null : Buffer.from(text);
  };
  const tail = createSegmentTail(read, "events", (chunk) => void told.push(String(chunk)));
  await expect(tail.read()).rejects.toThrow("cut");
  fails = false;
  await tail.read();
  expect(told).toEqual(["a", "b"]);
});
