import type { Session } from "@imprint/contracts";
import { expect, test } from "vitest";
import { touchedFiles } from "../src/touched-files.js";

const calling = (...args: readonly string[]): Session => ({
  schema_version: 1,
  session_id: "s",
  source: { format: "native", format_version: null, agent: null, model: null, sha256: "0".repeat(64) },
  task_type: null,
  outcome: "unknown",
  outcome_signal: null,
  started_at: null,
  tools: [],
  steps: [
    { source: "user", text: "Look at src/not-called.ts." },
    { source: "agent", text: "", tool_calls: args.map((text, at) => ({ id: `${at}`, name: "t", arguments: text })) },
  ],
  bad_lines: 0,
  dropped: [],
  redactions: [],
});

test("files are named by folder and name, wherever their paths begin", () => {
  const absolute = JSON.stringify({ path: "/home/me/shop/src/cart.ts" });
  const inCommand = JSON.stringify({ command: "cat ./src/cart.ts\nsed -n 1,9p src/price.py | head" });
  expect(touchedFiles(calling(absolute, inCommand, absolute))).toEqual(["src/cart.ts", "src/price.py"]);
});

test("files of the system and of installed packages, and names without a folder, are of no repository", () => {
  const foreign = "ls /usr/lib/a.so /tmp/x/y.py node_modules/a/b.js env/site-packages/a/b.py README.md /.env";
  expect(touchedFiles(calling(foreign))).toEqual([]);
});
