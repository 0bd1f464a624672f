import type { Step } from "@imprint/contracts";
import { isString, objectOrEmpty, parseJson } from "../values/json.js";

/** A command that the agent ran in a shell, and what came back: null where the recording ends before. */
export interface Run {
  /** Without heredocs and what stands in quotes: words in those run nothing. */
  readonly command: string;
  readonly output: string | null;
  /** Whether it ended well by its exit code; null where the recording does not say it. */
  readonly passed: boolean | null;
}

/** Exit codes as Claude Code, Codex, mini-SWE-agent and Gemini write them into a result. */
const EXIT_CODE =
  /^(?:Error: )?Exit code (\d+)|Process exited with code (\d+)|<returncode>(\d+)|^Exit Code: (\d+)|"exit_code": ?(\d+)/m;

/** The one block of an agent whose text is its action. */
const ACTION = /```(?:bash|sh|mswea_bash_command)\n([\s\S]*?)\n```/;

/** Characters of a command that are looked at from its beginning, and of its output from its end: runners write there how it ended. */
const MOST = 8000;
const LONGEST_COMMAND = 1000;

const commandOf = (given: string): string | null => {
  const { command, cmd, script } = objectOrEmpty(parseJson(given));
  const found = command ?? cmd ?? script;
  return isString(found) ? found : Array.isArray(found) ? found.filter(isString).join(" ") : null;
};

const endOf = (output: string, isError: boolean): boolean | null => {
  const code = EXIT_CODE.exec(output)?.slice(1).find(isString);
  return code === undefined ? (isError ? false : null) : code === "0";
};

/** A command without what it hands to others as text: a heredoc, or in quotes. */
const bare = (command: string): string =>
  command
    .slice(0, MOST)
    .replace(/<<-?\s*(['"]?)(\w+)\1[\s\S]*?(?:\n\2\b|$)/g, "")
    .replace(/"[^"]*"|'[^']*'/g, "''")
    .slice(0, LONGEST_COMMAND);

/** What a step ran, in order. */
export function runsOf({ text, tool_calls: calls = [], observations: seen = [] }: Step): readonly Run[] {
  const results = new Map(seen.map((one) => [one.call_id, one]));
  const made = (command: string, id: string | null): Run => {
    const result = results.get(id);
    const output = result?.content ?? null;
    const passed = output === null ? null : endOf(output, result?.is_error === true);
    return { command: bare(command), output: output?.slice(-MOST) ?? null, passed };
  };
  const called = calls.flatMap(({ id, arguments: given }) => {
    const command = commandOf(given);
    return command === null ? [] : [made(command, id)];
  });
  const [, action] = (calls.length === 0 && ACTION.exec(text)) || [];
  return action === undefined ? called : [made(action, null)];
}
