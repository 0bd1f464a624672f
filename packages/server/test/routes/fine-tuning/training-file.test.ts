import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { defer } from "../../../src/common/promises.js";
import type { KindDeps } from "../../../src/kinds/deps.js";
import { createTrainingFiles } from "../../../src/routes/fine-tuning/training-file.js";
import type { SavedFile } from "../../../src/sessions/save.js";
import { makeFolder } from "../../support/service.js";

const LINE = JSON.stringify({
  messages: [
    { role: "user", content: "mend it" },
    { role: "assistant", content: "mended" },
  ],
});

/** Uploaded files whose imports end when they are told to. */
const uploaded = (...fileIds: readonly string[]) => {
  const uploads = makeFolder();
  for (const fileId of fileIds) writeFileSync(join(uploads, fileId), `${LINE}\n`);
  const imports: ReturnType<typeof defer<SavedFile>>[] = [];
  const begin = vi.fn(() => {
    imports.push(defer<SavedFile>());
    return imports.at(-1)?.promise;
  });
  const deps = { paths: { uploads }, sessions: { import: begin } } as unknown as KindDeps;
  const saved = { result: { sessions: [{ session_id: "s" }, { session_id: "s" }] } } as unknown as SavedFile;
  const begun = (count: number) => vi.waitFor(() => expect(begin).toHaveBeenCalledTimes(count));
  return { importFile: createTrainingFiles(deps), imports, saved, begun };
};

test("a file that is asked for while it is imported is imported once, and again when that is over", async () => {
  const { importFile, imports, saved, begun } = uploaded("a", "b");
  const asked = [importFile("a"), importFile("a"), importFile("b")];
  await begun(2);
  asked.push(importFile("a"));
  for (const one of imports) one.resolve(saved);
  expect(await Promise.all(asked)).toEqual([["s"], ["s"], ["s"], ["s"]]);
  const again = importFile("a");
  await begun(3);
  imports[2]?.resolve(saved);
  expect(await again).toEqual(["s"]);
});

test("an import that fails fails for all who wait, and the next one begins anew", async () => {
  const { importFile, imports, saved, begun } = uploaded("a");
  const asked = [importFile("a"), importFile("a")];
  await begun(1);
  imports[0]?.reject(new Error("gone"));
  for (const one of asked) await expect(one).rejects.toThrow("gone");
  const again = importFile("a");
  await begun(2);
  imports[1]?.resolve(saved);
  expect(await again).toEqual(["s"]);
});
