/**
 * How models write tool calls. Both readers are driven by this table: the service's (`packages/server/src/chat/tool-calls`) and the
 * trainer's (`data/calls.py`, which reads `tool-calls.json`, made by scripts/generate-schemas.mjs). A base has the first format that
 * reads back what its chat template writes of a call.
 *
 * A pattern is text with slots. White space in it stands for any or none. What follows its last slot may be missing at a turn's end.
 *
 *     {json}         {"name", "arguments"}, Llama's {"name", "parameters"}, either as "function", or a list of these
 *     {bare}         the same without a mark before it: only where an answer begins, or behind a call
 *     {name}         the tool's
 *     {object}       its arguments as JSON
 *     {parameters}   its arguments, each as `parameter` says with {key} and {value}; what follows must be there
 *     {members}      its arguments as {key: value, ..}, texts between two `quote` marks
 *     {python}       [name(key=value, ..), ..]; with `quote` an argument's text stands between two of those as it is
 *     {word}         characters that say nothing
 *     {thought}      text up to the next mark, or to the end
 */
export interface ToolCallFormat {
  /** How a call that has to be made begins. */
  readonly begins: string;
  /** Of a call, tried in their order. */
  readonly calls: readonly string[];
  readonly parameter?: string;
  readonly quote?: string;
  /** Patterns of what is neither a call nor the answer's text. */
  readonly left_out?: readonly string[];
}

/** What every format understands as well: adapters learn it where a template cannot write a session's calls. */
export const TAGGED_CALL = "<tool_call> {json} </tool_call>";

const TAGGED: ToolCallFormat = { begins: '<tool_call>\n{"name": "{name}", "arguments":', calls: [] };

const FORMATS: Readonly<Record<string, ToolCallFormat>> = {
  hermes: TAGGED,
  "qwen3-coder": {
    begins: "<tool_call>\n<function={name}>\n",
    calls: [
      "<tool_call> <function= {name} > {parameters} </function> </tool_call>",
      "<function= {name} > {parameters} </function> </tool_call>",
    ],
    parameter: "<parameter= {key} >\n{value}\n</parameter>",
  },
  glm: {
    begins: "<tool_call>{name}\n",
    calls: ["<tool_call> {name} {parameters} </tool_call>"],
    parameter: "<arg_key> {key} </arg_key> <arg_value>{value}</arg_value>",
  },
  minimax: {
    begins: '<minimax:tool_call>\n<invoke name="{name}">\n',
    calls: ['<invoke name=" {name} "> {parameters} </invoke>'],
    parameter: '<parameter name=" {key} ">{value}</parameter>',
    left_out: ["<minimax:tool_call>", "</minimax:tool_call>"],
  },
  atem: {
    begins: ' to={name}<|message|><atem:function_calls>\n<atem:invoke name="{name}">\n',
    calls: ['<atem:invoke name=" {name} "> {parameters} </atem:invoke>'],
    parameter: '<atem:parameter name=" {key} ">{value}</atem:parameter>',
    left_out: [
      "to= self <|message|> {thought} <|eom|>",
      "to= {word} <|message|>",
      "<atem:function_calls>",
      "</atem:function_calls>",
      "<|start|>assistant",
      "<|eom|>",
    ],
  },
  llama3: { begins: '{"name": "{name}", "parameters":', calls: ["{bare}", "<|python_tag|> {json}"] },
  mistral: {
    begins: '[TOOL_CALLS][{"name": "{name}", "arguments":',
    calls: [
      "[TOOL_CALLS] {json}",
      "[TOOL_CALLS] {name} {object}",
      "[TOOL_CALLS] {name} [ARGS] {object}",
      "[TOOL_CALLS] {name} [CALL_ID] {word} [ARGS] {object}",
    ],
  },
  granite: { begins: '<|tool_call|>[{"name": "{name}", "arguments":', calls: ["<|tool_call|> {json} <|/tool_call|>"] },
  gemma4: { begins: "<|tool_call>call:{name}{", calls: ["<|tool_call> call: {name} {members} <tool_call|>"], quote: '<|"|>' },
  functiongemma: {
    begins: "<start_function_call>call:{name}{",
    calls: ["<start_function_call> call: {name} {members} <end_function_call>"],
    quote: "<escape>",
  },
  "deepseek-v3": {
    begins: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n",
    calls: ["<｜tool▁call▁begin｜> function <｜tool▁sep｜> {name} ```json {object} ``` <｜tool▁call▁end｜>"],
    left_out: ["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"],
  },
  "deepseek-v3.1": {
    begins: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{name}<｜tool▁sep｜>",
    calls: ["<｜tool▁call▁begin｜> {name} <｜tool▁sep｜> {object} <｜tool▁call▁end｜>"],
    left_out: ["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"],
  },
  lfm2: { begins: "<|tool_call_start|>[{name}(", calls: ["<|tool_call_start|> {python} <|tool_call_end|>"] },
  "lfm2-unescaped": {
    begins: "<|tool_call_start|>[{name}(",
    calls: ["<|tool_call_start|> {python} <|tool_call_end|>"],
    quote: "'",
  },
  harmony: {
    begins: "<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>",
    calls: ["to=functions. {name} {word} <|message|> {object} <|call|>"],
    left_out: [
      "<|channel|> analysis <|message|> {thought} <|end|>",
      "<|channel|> analysis",
      "<|channel|> commentary",
      "<|channel|> final",
      "<|start|>assistant",
      "<|message|>",
      "<|end|>",
      "<|return|>",
    ],
  },
  /** Of bases whose chat template lists no tools, or writes calls in a way of its own. */
  generic: TAGGED,
};

export const TOOL_CALL_FORMATS: Readonly<Record<string, ToolCallFormat>> = Object.fromEntries(
  Object.entries(FORMATS).map(([name, format]) => [name, { ...format, calls: [TAGGED_CALL, ...format.calls] }]),
);
