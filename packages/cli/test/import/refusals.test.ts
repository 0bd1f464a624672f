import fc from "fast-check";
import { expect, it } from "vitest";
import type { ImportedFile } from "../../src/import/import-files.js";
import { refusalLines } from "../../src/import/refusals.js";

const refused = (path: string, reason: string): ImportedFile => ({ path, status: "failed", sessions: [], warnings: [], reason });
const unknown = "is no recorded session (JSON without turns). Looked for native (a trajectory); pi (a line).";

it("says each reason once, and names the files", () => {
  const files = [
    refused("logs/a.md", `The file ${unknown}`),
    refused("b.md", `b.md ${unknown}`),
    refused("s.zip", "s.zip is a ZIP archive, which Imprint does not read; unpack it and bring the files in it."),
    refused("c.json", `c.json ${unknown}`),
    refused("locked.json", "cannot be read (EACCES)"),
  ];
  expect(refusalLines(files, { verbose: false })).toEqual([
    "3 files: no recorded session (JSON without turns): logs/a.md, b.md, c.json",
    "s.zip: a ZIP archive, which Imprint does not read; unpack it and bring the files in it",
    "locked.json: cannot be read (EACCES)",
  ]);
  const many = Array.from({ length: 12 }, (_, index) => refused(`${index}.md`, `${index}.md ${unknown}`));
  expect(refusalLines(many, { verbose: false })).toEqual([
    "12 files: no recorded session (JSON without turns): 0.md, 1.md, and 10 others; --verbose lists all",
  ]);
  expect(refusalLines(many, { verbose: true })).toHaveLength(12);
  expect(refusalLines(many, { verbose: true })[3]).toBe(
    "3.md: no recorded session (JSON without turns). Looked for native (a trajectory); pi (a line).",
  );
});

it("has never more lines than files, and each names one of them", () => {
  const file = fc
    .record({ path: fc.stringMatching(/^[a-z]{1,3}$/), is: fc.constantFrom("is empty.", unknown), named: fc.boolean() })
    .map(({ path, is, named }) => refused(path, `${named ? path : "The file"} ${is}`));
  fc.assert(
    fc.property(fc.array(file), fc.boolean(), (files, verbose) => {
      const lines = refusalLines(files, { verbose });
      expect(lines.length).toBeLessThanOrEqual(verbose ? files.length : 2);
      for (const line of lines) expect(files.some(({ path }) => line.includes(path))).toBe(true);
    }),
  );
});
