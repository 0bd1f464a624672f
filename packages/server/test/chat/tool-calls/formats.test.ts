import { expect, it } from "vitest";
import { formatOf } from "../../../src/chat/tool-calls/formats.js";

it.each([
  ["generic", "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>' }}{% endfor %}"],
  [
    "hermes",
    "{{ '\\n<tool_call>\\n{\"name\": \"' + call.name + '\", \"arguments\": ' + call.arguments | tojson + '}\\n</tool_call>' }}",
  ],
  [
    "qwen3-coder",
    "{{ '\\n<tool_call>\\n<function=' + call.name + '>\\n' }}{% for k, v in args %}{{ '<parameter=' + k + '>' }}{% endfor %}",
  ],
  ["llama3", "{{ '<|python_tag|>' + call.name + '.call(' }}"],
  ["llama3", 'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.'],
  ["mistral", "{% if message.tool_calls %}{{ '[TOOL_CALLS][' }}{% endif %}"],
  ["granite", "{{ '<|tool_call|>' + message.tool_calls | tojson }}"],
  ["gemma4", "{{ '<|tool_call>call:' + call.name + '{' }}"],
  ["functiongemma", "{{ '<start_function_call>call:' + call.name + '{' }}"],
])("a chat template that writes calls so is of the format %s: %#", (format, template) => {
  expect(formatOf(template)).toBe(format);
});
