import type { Evidence, Session, Step } from "@imprint/contracts";
import { evidenceOf } from "../../src/outcome/evidence.js";
import { judge } from "../../src/outcome/judge.js";

let calls = 0;

export const says = (source: "user" | "agent", text: string): Step => ({ source, text });

/** A step that calls one tool; `result` is null where the recording ends before. */
export const call = (name: string, given: object, result: string | null, isError = false): Step => {
  const id = `call-${calls++}`;
  return {
    source: "agent",
    text: "",
    tool_calls: [{ id, name, arguments: JSON.stringify(given) }],
    ...(result !== null && { observations: [{ call_id: id, content: result, ...(isError && { is_error: true }) }] }),
  };
};

export const ran = (command: string, result: string | null, isError = false): Step => call("Bash", { command }, result, isError);
export const edited = (): Step => call("Edit", { file_path: "/srv/shop/cart.py", old_string: "a", new_string: "b" }, "updated");

export const TASK = says("user", "Round prices to cents.");
export const DONE = says("agent", "Prices are rounded to cents now.");
export const COMMITTED = ran(
  "git add -A && git commit -m 'Round'",
  "[main 1a2b3c4] Round prices\n 1 file changed, 2 insertions(+)",
);
export const TESTED = ran("pytest -q", "....\n4 passed in 0.12s");
export const FAILED = ran("pytest", "=== 1 failed, 3 passed in 0.2s ===", true);

export const shown = (steps: readonly Step[], signal: string | null = null): readonly Evidence[] =>
  evidenceOf({ steps: [...steps], outcome_signal: signal } satisfies Pick<Session, "steps" | "outcome_signal">);

export const kindsOf = (steps: readonly Step[], signal: string | null = null): readonly string[] =>
  shown(steps, signal).map(({ kind }) => kind);

export const judged = (steps: readonly Step[], signal: string | null = null): string => judge(shown(steps, signal));
