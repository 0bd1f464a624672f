import type { Outcome } from "@imprint/contracts";
import { transcript } from "../../transcript.js";
import { isString, type JsonObject, objectsOf, stringOrNull } from "../../values/json.js";
import { handOver, type RecordFormat } from "../format.js";

/** The code in a Markdown block whose fence is longer than any run of backticks inside. */
function fenced(code: string, language: string): string {
  const longest = (code.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${code.endsWith("\n") ? code : `${code}\n`}${fence}`;
}

const OUTCOMES: Readonly<Record<string, Outcome>> = { success: "success", exhausted: "failure" };

function resultOf(step: JsonObject): string {
  const parts = [
    typeof step.exit_code === "number" ? `exit code: ${step.exit_code}` : "",
    stringOrNull(step.stdout) === null ? "" : `stdout:\n${step.stdout}`,
    stringOrNull(step.stderr) === null ? "" : `stderr:\n${step.stderr}`,
    typeof step.tests_passed === "boolean" ? `tests passed: ${step.tests_passed ? "yes" : "no"}` : "",
  ];
  return parts.filter((part) => part !== "").join("\n");
}

const failed = (step: JsonObject): boolean =>
  step.tests_passed === false || (typeof step.exit_code === "number" && step.exit_code !== 0);

/** The original service's own trajectory file: a task, and attempts with what running them said. */
export const native: RecordFormat = {
  name: "native",
  sign: "a trajectory with `task_description` and `steps` of `generated_code`",
  recognises: (record) =>
    Array.isArray(record.steps) &&
    (isString(record.task_description) || objectsOf(record.steps).some((step) => isString(step.generated_code))),
  read: (output) => ({
    accept: (record) => {
      const talk = transcript(output.hold);
      talk.say("user", stringOrNull(record.task_description) ?? "", record.timestamp);
      for (const step of objectsOf(record.steps)) {
        const code = isString(step.generated_code) ? step.generated_code : "";
        const language = stringOrNull(step.language) ?? stringOrNull(record.language) ?? "python";
        talk.answer({ text: code === "" ? "" : fenced(code, language), contextOnly: failed(step) ? "failed" : undefined });
        const content = resultOf(step);
        if (content !== "")
          talk.observe({ call_id: null, content: output.fit(content), ...(failed(step) ? { is_error: true } : {}) });
      }
      const signal = stringOrNull(record.outcome);
      handOver(output, talk, {
        id: stringOrNull(record.session_id),
        agent: "imprint",
        taskType: stringOrNull(record.task_type),
        outcome: (signal !== null && Object.hasOwn(OUTCOMES, signal) ? OUTCOMES[signal] : undefined) ?? "unknown",
        outcomeSignal: signal,
      });
    },
    finish: () => {},
  }),
};
