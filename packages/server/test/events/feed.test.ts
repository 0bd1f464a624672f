import fc from "fast-check";
import { expect, test } from "vitest";
import { createFeed } from "../../src/events/feed.js";

test("since any remembered id the feed tells exactly what followed, and since others nothing at all", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 30 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 20, max: 400 }),
      (texts, events, characters) => {
        const feed = createFeed({ before: 100, limits: { events, characters } });
        const sent = texts.map((text, index) => `id: ${101 + index}\n${text}`);
        for (const text of texts) feed.push(text);
        expect(feed.last()).toBe(100 + texts.length);
        for (let id = 95; id <= 100 + texts.length + 5; id += 1) {
          const suffix = feed.since(id);
          if (suffix !== null) expect(suffix).toEqual(sent.slice(id - 100));
          else expect(id < 100 || id > feed.last() || sent.length - (id - 100) > 1).toBe(true);
        }
        expect(feed.since(feed.last())).toEqual([]);
        if (texts.length > 0) expect(feed.since(feed.last() - 1)).toEqual(sent.slice(-1));
        expect(feed.size()).toBeLessThanOrEqual(Math.max(characters, sent.at(-1)?.length ?? 0));
      },
    ),
    { numRuns: 100 },
  );
});

test("what was forgotten is not told, and ids go on", () => {
  const feed = createFeed({ before: 0, limits: { events: 10, characters: 1000 } });
  feed.push("one");
  feed.forget();
  expect([feed.since(0), feed.since(1), feed.size()]).toEqual([null, [], 0]);
  feed.push("two");
  expect([feed.since(0), feed.since(1)]).toEqual([null, ["id: 2\ntwo"]]);
});

test("listeners hear every event until they leave", () => {
  const feed = createFeed({ before: 0, limits: { events: 10, characters: 1000 } });
  const heard: number[] = [];
  const leave = feed.listen(() => heard.push(feed.last()));
  feed.push("one");
  feed.push("two");
  leave();
  feed.push("three");
  expect(heard).toEqual([1, 2]);
});
