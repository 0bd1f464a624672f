import { expect, it } from "vitest";
import type { ImportedFile, ImportedSession } from "../../src/import/import-files.js";
import { nextStep } from "../../src/import/next-step.js";

type Given = Partial<Pick<ImportedSession, "outcome" | "own" | "trainable_turns" | "assistant_turns">>;

const file = (status: ImportedFile["status"], sessions: Readonly<Record<string, Given>>): ImportedFile => ({
  path: "x.jsonl",
  status,
  warnings: [],
  sessions: Object.entries(sessions).map(([session_id, given]) => ({
    session_id,
    format: "native",
    outcome: "unknown",
    redactions: [],
    task: "",
    user_turns: 1,
    assistant_turns: 9,
    tool_calls: 0,
    tool_results: 0,
    ...given,
  })),
});
const said = (...files: readonly ImportedFile[]): string => nextStep(files, "npx imprint").join("\n");

it("names the new session that teaches most, never one that cannot be trained", () => {
  const known = file("known", { old: { trainable_turns: 99 } });
  const stored = file("stored", {
    failed: { outcome: "failure", trainable_turns: 50 },
    empty: { trainable_turns: 0 },
    good: { trainable_turns: 3 },
    later: { outcome: "success", trainable_turns: 3 },
    less: { trainable_turns: 1 },
  });
  expect(said(known, stored)).toBe("Train on one: npx imprint train later --watch");
  expect(said(known, file("stored", { empty: { trainable_turns: 0 } }))).toBe("Train on one: npx imprint train old --watch");
  expect(said(file("stored", { uncounted: {} }))).toBe("Train on one: npx imprint train uncounted --watch");
});

it("names none whose words are an adapter's where there are others, and says what they are where there are not", () => {
  const own = { mine: { own: true, trainable_turns: 9 }, lost: { own: true, outcome: "failure", trainable_turns: 9 } } as const;
  expect(said(file("stored", { ...own, theirs: { trainable_turns: 1 } }))).toBe("Train on one: npx imprint train theirs --watch");
  const text = said(file("stored", own));
  expect(text).toContain("their words are those of adapters and base models of this service");
  expect(text).toContain("npx imprint train mine --watch");
});

it("says why none can be trained, and what to do", () => {
  const failed = { outcome: "failure", trainable_turns: 2 } as const;
  expect(said(file("stored", { failed, empty: { trainable_turns: 0 } }))).toContain("npx imprint label failed success");
  expect(said(file("stored", { empty: { trainable_turns: 0 } }))).toMatch(/^None of these sessions can be trained on/);
});

it("asks for the import itself after a dry run, and says nothing where nothing was imported", () => {
  expect(said(file("readable", { good: { trainable_turns: 3 } }))).toBe("Store them: the same command without --dry-run.");
  expect(said(file("skipped", {}))).toBe("");
});
