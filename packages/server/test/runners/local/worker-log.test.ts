import fc from "fast-check";
import { expect, test } from "vitest";
import { createByteRing, createWorkerLog, readable, withoutPaths } from "../../../src/runners/local/worker-log.js";
import { manualClock } from "../../common/manual-clock.js";

test("a ring holds the end of what was written", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.uint8Array({ maxLength: 30 })),
      fc.nat(50),
      (capacity, chunks, mark) => {
        const ring = createByteRing(capacity);
        for (const chunk of chunks) ring.write(Buffer.from(chunk));
        const all = Buffer.concat(chunks);
        expect(ring.total()).toBe(all.length);
        const from = Math.max(mark, all.length - capacity);
        expect(ring.between(mark, all.length)).toEqual(all.subarray(Math.min(from, all.length)));
      },
    ),
  );
});

test("text is passed on by whole lines, at a bounded rate, and the rest at the end", () => {
  const clock = manualClock();
  const log = createWorkerLog({ clock });
  const texts: string[] = [];
  log.write(Buffer.from("loading\n"));
  log.follow((text) => texts.push(text));
  log.write(Buffer.from("one\ntw"));
  log.write(Buffer.from("o\nna"));
  expect(texts).toEqual([]);
  clock.advance(100);
  expect(texts).toEqual(["loading\none\ntwo\n"]);
  log.write(Buffer.from([0xc3]));
  log.write(Buffer.from([0xaf]));
  log.unfollow();
  expect(texts).toEqual(["loading\none\ntwo\n", "naï"]);
  expect(clock.armed()).toBe(0);
});

test("what is written between two followers belongs to neither", () => {
  const log = createWorkerLog({ clock: manualClock() });
  const texts: string[] = [];
  log.follow(() => {});
  log.unfollow();
  log.write(Buffer.from("between\n"));
  log.follow((text) => texts.push(text));
  log.write(Buffer.from("mine\n"));
  log.unfollow();
  expect(texts).toEqual(["mine\n"]);
  expect(log.lastLines(2)).toEqual(["between", "mine"]);
});

test("terminal escapes and control characters are gone", () => {
  expect(readable("\u001b[31mred\u001b[0m\u0007 10%\r20%\r\n\u001b]0;title\u0007done\u0000\t!")).toBe("red 10%\n20%\ndone\t!");
});

test.each([
  ["No such file: '/home/me/secret/model.bin'", "No such file: 'model.bin'"],
  ["C:\\Users\\me\\x.py failed", "x.py failed"],
  ["at /a/b.py:12, in f", "at b.py:12, in f"],
  ["loss 1/2 and/or https://example.org/a/b", "loss 1/2 and/or https://example.org/a/b"],
])("%s shows no absolute path", (text, expected) => {
  expect(withoutPaths(text)).toBe(expected);
});
