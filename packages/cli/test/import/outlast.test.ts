import { ApiError, ConnectionError } from "@imprint/client";
import { expect, it } from "vitest";
import type { Store, Stored } from "../../src/import/import-files.js";
import { outlasting } from "../../src/import/outlast.js";

const candidate = { path: "one.jsonl", named: false, size: 1, modified: 0 };
const stored: Stored = { status: "stored", sessions: [], warnings: [] };

/** A service that is away for so many attempts; waits end at once. `stopAfter` waits the watch is ended. */
function away(attempts: number, { error = new ConnectionError("No answer"), stopAfter = Number.POSITIVE_INFINITY } = {}) {
  const stop = new AbortController();
  const waits: number[] = [];
  const notes: string[] = [];
  let tried = 0;
  const store: Store = async () => {
    tried += 1;
    if (tried <= attempts) throw error;
    return stored;
  };
  const clock = {
    sleep: async (ms: number) => {
      waits.push(ms / 1000);
      if (waits.length === stopAfter) stop.abort();
    },
  };
  const taken = outlasting(store, { clock, note: (text) => notes.push(text) })(candidate, stop.signal);
  return { taken, waits, notes };
}

it("tries again ever more rarely, and says twice what happened", async () => {
  const { taken, waits, notes } = away(8);
  expect(await taken).toBe(stored);
  expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  expect(notes).toEqual(["No answer. The watch goes on when the service is back.", "The service is back."]);
});

it("waits for a service that is shutting down", async () => {
  const { taken, waits } = away(1, { error: new ApiError(503, { detail: "The service is shutting down." }) });
  expect(await taken).toBe(stored);
  expect(waits).toEqual([1]);
});

it("gives up when the watch ends, and at once at any other error", async () => {
  const ended = away(9, { stopAfter: 2 });
  await expect(ended.taken).rejects.toThrow("No answer");
  expect(ended.waits).toEqual([1, 2]);
  const broken = away(1, { error: new ApiError(500, { detail: "broken" }) });
  await expect(broken.taken).rejects.toThrow("broken");
  expect([broken.waits, broken.notes]).toEqual([[], []]);
});
