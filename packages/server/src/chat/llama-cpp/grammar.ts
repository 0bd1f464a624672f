import { type ChatSpec, TAGGED_CALL } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import { literal, schemaRules } from "./json-schema.js";

/** A call that an answer may make, from behind the mark on: `head` up to its arguments, and their rule. */
interface CallRule {
  readonly head: string;
  readonly rule: string;
}

/** What holds an answer to its form: all of it, or its calls from their mark on. */
export type AnswerGrammar =
  | { readonly type: "answer"; readonly gbnf: string }
  | { readonly type: "calls"; readonly rules: string; readonly calls: readonly CallRule[]; readonly isOne: boolean };

const [MARK = "", closing = ""] = TAGGED_CALL.split(" {json} ");
const TAIL = `}\n${closing}`;
/** Formats whose calls stand between these marks as one JSON object. */
const MARKED: ReadonlySet<string | null> = new Set(["generic", "hermes"]);

type Asked = Pick<ChatSpec, "json_schema" | "tools" | "parallel_tool_calls">;

/** Null where the answer is free. Throws ImprintError PROMPT_REFUSED, which names what cannot be held to. */
export const grammarFor = (
  { json_schema, tools, parallel_tool_calls }: Asked,
  tool_format: string | null,
  /** Is told of each tool whose calls are held to no schema of theirs. */
  onFree: (tool: string) => void = () => {},
): AnswerGrammar | null => {
  const rules = schemaRules();
  if (json_schema !== null) {
    if (tools.length > 0)
      throw new ImprintError("PROMPT_REFUSED", "A schema for the answer cannot stand beside tools: leave one of them out.");
    const root = rules.ruleOf(json_schema, "the answer");
    return { type: "answer", gbnf: `root ::= ${root}\n${rules.text()}` };
  }
  if (tools.length === 0) return null;
  if (!MARKED.has(tool_format)) {
    for (const { name } of tools) onFree(name);
    return null;
  }
  const argumentsOf = (name: string, parameters: unknown): string => {
    if (parameters === null) return rules.object;
    try {
      return rules.ruleOf(parameters, `the tool ${name}`);
    } catch {
      onFree(name);
      return rules.object;
    }
  };
  const calls = tools.map(({ name, parameters }) => ({
    head: `\n{"name": ${JSON.stringify(name)}, "arguments": `,
    rule: argumentsOf(name, parameters),
  }));
  return { type: "calls", rules: rules.text(), calls, isOne: !parallel_tool_calls };
};

/**
 * The grammar that holds from here on; null while the answer is still free, or has begun a call in a way of its own. `told` is all of the answer so
 * far; only its first mark counts, since the grammar stays to the end.
 */
export const grammarAfter = (told: string, grammar: AnswerGrammar): string | null => {
  if (grammar.type === "answer") return grammar.gbnf;
  const at = told.indexOf(MARK);
  if (at < 0) return null;
  const begun = told.slice(at + MARK.length);
  const { calls, rules, isOne } = grammar;
  const going = calls.filter(({ head }) => head.startsWith(begun));
  if (going.length === 0) return null;
  const written = (call: CallRule, from: number): string => `${literal(call.head.slice(from))} ${call.rule} ${literal(TAIL)}`;
  const first = going.map((call) => written(call, begun.length)).join(" | ");
  const next = isOne ? "" : `(${literal(`\n${MARK}`)} (${calls.map((call) => written(call, 0)).join(" | ")}))*`;
  return `root ::= (${first}) ${next}\n${rules}`;
};
