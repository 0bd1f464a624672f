import { expect, it } from "vitest";
import { importText } from "../support/import-text.js";

const resultOf = async (content: string): Promise<boolean | undefined> => {
  const call = { id: "c1", type: "function", function: { name: "bash", arguments: '{"command":"cat a.yml"}' } };
  const messages = [
    { role: "user", content: "Show a" },
    { role: "assistant", content: "", tool_calls: [call] },
    { role: "tool", tool_call_id: "c1", content },
    { role: "assistant", content: "Done" },
  ];
  const { sessions } = await importText(JSON.stringify({ messages }));
  return sessions[0]?.steps[1]?.observations?.[0]?.is_error;
};

it.each([
  "<returncode>1</returncode>\n<output>\ncat: a.yml: No such file or directory\n</output>",
  "<returncode>-9</returncode>\n<output>\n</output>",
  "Error: Exit code 127\nbash: jqq: command not found",
  "\nExit code 2",
])("a result that begins with another exit code than 0 is an error: %j", async (content) => {
  expect(await resultOf(content)).toBe(true);
});

it.each([
  "<returncode>0</returncode>\n<output>\nExit code 1\n</output>",
  "Exit code 0",
  "The manual says: Exit code 1 means no match",
  "<returncode></returncode>",
])("any other is none: %j", async (content) => {
  expect(await resultOf(content)).toBeUndefined();
});
