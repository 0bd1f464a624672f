import type { Observation, Session, Step, ToolCall } from "@imprint/contracts";
import { shellWord } from "../../output/text.js";

type Input = Readonly<Record<string, unknown>>;

/** What an agent did once, and what came of it. */
export interface Action {
  readonly name: string;
  /** Its arguments; of a tool that takes text alone, the text as `input`. */
  readonly input: Input;
  /** The shell's line, where it is a shell call. */
  readonly command: string | null;
  /** The folder that the call names for it. */
  readonly folder: string | null;
  readonly output: string;
  /** Null where the recording has none. */
  readonly exit: number | null;
  readonly failed: boolean;
  /** The place of its step in the session. */
  readonly step: number;
}

const SHELL = /bash|shell|exec|terminal|command|^run_/i;
const EXIT_CODE = /^\s*(?:Error: )?(?:Process exited with code|Exit code:?)\s*(-?\d+)/m;
const RETURN_CODE = /<returncode>\s*(-?\d+)\s*<\/returncode>|"returncode":\s*(-?\d+)/;
/** Not the command's own end: a person's, or the agent's patience. */
const CUT_OFF = /doesn't want to proceed|Command timed out|\[Request interrupted|was rejected/;
const STILL_RUNS = /Process running with session ID (\d+)/;
/** The one block that mini-SWE-agent takes as its action. */
const BLOCK = /```(?:bash|sh|mswea_bash_command)\n([\s\S]*?)\n?```/;
/** Agents whose shell calls fail where their exit code is not 0. */
const FAILS_BY_CODE = new Set(["claude-code", "claude-stream", "codex"]);

const textOf = (value: unknown): string | null => (typeof value === "string" && value.trim() !== "" ? value : null);

function inputOf(text: string): Input {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Input;
  } catch {
    // A tool that takes text alone.
  }
  return { input: text };
}

function commandIn(name: string, input: Input): string | null {
  if (!SHELL.test(name)) return null;
  const given = input.command ?? input.cmd ?? input.script;
  return Array.isArray(given) ? given.map(String).map(shellWord).join(" ") : textOf(given);
}

function exitOf({ content, is_error }: Pick<Observation, "content" | "is_error">, format: string): number | null {
  if (CUT_OFF.test(content) || STILL_RUNS.test(content)) return null;
  const [, ...codes] = RETURN_CODE.exec(content) ?? EXIT_CODE.exec(content.slice(0, 400)) ?? [];
  const code = codes.find((one) => one !== undefined);
  if (code !== undefined) return Number(code);
  return FAILS_BY_CODE.has(format) ? Number(is_error === true) : null;
}

/** The output of a command that went on is in later answers to what was written to it. */
function withRest(action: Action, later: readonly Action[]): Action {
  const [, id] = (action.command === null ? null : STILL_RUNS.exec(action.output)) ?? [];
  if (id === undefined) return action;
  const rest = later.filter(({ name, input }) => name === "write_stdin" && String(input.session_id) === id);
  const last = rest.at(-1);
  return last === undefined ? action : { ...action, output: rest.map(({ output }) => output).join("\n"), exit: last.exit };
}

/** What the agent of a session did, in order. */
export function actionsOf({ steps, source }: Session): readonly Action[] {
  const ofCall = ({ id, name, arguments: text }: ToolCall, { observations = [] }: Step, step: number): Action => {
    const results = observations.filter(({ call_id }) => call_id === id);
    const result = { content: results.map(({ content }) => content).join("\n"), is_error: results.some((one) => one.is_error) };
    const input = inputOf(text);
    const command = commandIn(name, input);
    const exit = command === null && name !== "write_stdin" ? null : exitOf(result, source.format);
    return {
      ...{ name, input, command, exit, output: result.content, failed: result.is_error },
      folder: textOf(input.workdir) ?? textOf(input.cwd),
      step,
    };
  };
  const ofStep = (step: Step, at: number): readonly Action[] => {
    if (step.source !== "agent" || step.context_only === "copied") return [];
    const { text, tool_calls: calls = [], observations = [] } = step;
    const [, command] = (calls.length === 0 ? BLOCK.exec(text) : null) ?? [];
    if (command === undefined) return calls.map((call) => ofCall(call, step, at));
    const output = observations.map(({ content }) => content).join("\n");
    const exit = exitOf({ content: output }, source.format);
    return [{ name: "bash", input: { command }, command, folder: null, output, exit, failed: false, step: at }];
  };
  const actions = steps.flatMap(ofStep);
  return actions.map((action, at) => withRest(action, actions.slice(at + 1)));
}
