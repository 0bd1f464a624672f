import { expect, it } from "vitest";
import type { Candidate } from "../../src/files/candidate.js";
import { importProgress } from "../../src/import/progress.js";
import type { Io } from "../../src/io.js";

const MB = 1_000_000;
const candidates: Candidate[] = ["a.jsonl", "b.jsonl"].map((path) => ({ path, named: false, size: 10 * MB, modified: 0 }));

function shown({ isTTY, stepMs }: { isTTY: boolean; stepMs: number }): string {
  const written: string[] = [];
  let now = 0;
  const err = { isTTY, columns: 200, write: (part: string) => void written.push(part) };
  const plain = (_style: unknown, part: string): string => part;
  const io = { err, paint: { out: plain, err: plain } } as unknown as Io;
  const progress = importProgress({
    io,
    candidates,
    now: () => {
      now += stepMs;
      return now;
    },
  });
  for (const candidate of candidates) {
    progress.onStart(candidate);
    progress.onFile({ path: candidate.path, status: "stored", sessions: [], warnings: [] }, candidate);
  }
  progress.end();
  return written.join("");
}

it("draws files and bytes on a terminal, and leaves nothing behind", () => {
  const text = shown({ isTTY: true, stepMs: 1000 });
  expect(text).toContain("━━━━━━━━━━━━━━──────────────  1/2 files  10.0 MB/20.0 MB  a.jsonl");
  expect(text).toContain("2/2 files  20.0 MB/20.0 MB  b.jsonl");
  expect(text.endsWith("\r\u001b[2K")).toBe(true);
});

it("writes a plain line now and then elsewhere, and none for a short import", () => {
  expect(shown({ isTTY: false, stepMs: 1 })).toBe("");
  expect(shown({ isTTY: false, stepMs: 6000 })).toContain("importing: 1/2 files  10.0 MB/20.0 MB\n");
});
