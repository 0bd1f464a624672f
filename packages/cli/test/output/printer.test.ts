import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { waitingFor } from "../../src/output/printer.js";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it("notes every few seconds what is waited for, until it is there", async () => {
  const notes: string[] = [];
  let end: (text: string) => void = () => undefined;
  const work = new Promise<string>((resolve) => {
    end = resolve;
  });
  const waited = waitingFor("reading", work, (text) => notes.push(text));
  vi.advanceTimersByTime(12_000);
  end("read");
  expect(await waited).toBe("read");
  vi.advanceTimersByTime(60_000);
  expect(notes).toEqual(["reading (5 s)", "reading (10 s)"]);
});
