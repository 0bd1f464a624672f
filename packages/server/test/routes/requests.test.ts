import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MODEL, startService } from "../support/service.js";

interface Case {
  readonly name: string;
  readonly path: string;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Requests of agents and of clients of other servers, a line each. */
const CASES = readFileSync(new URL("requests.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Case);

test("what agents and clients of other servers send is answered, or refused by its field", async () => {
  const service = await startService({ behaviour: { script: ["Done."], pieces: 5 } });
  for (const { name, path, status, body } of CASES) {
    const response = await service.post(path, { ...body, model: MODEL });
    expect([name, response.statusCode, response.body]).toEqual([name, status, expect.stringMatching(/Done\.|Field \w+/)]);
  }
});

const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"grüße"\n*** End Patch';
const custom = { type: "custom", name: "apply_patch", description: "Patches.", format: { type: "grammar", syntax: "lark" } };
const asked = {
  model: MODEL,
  input: [
    { role: "user", content: "Patch." },
    { type: "custom_tool_call", call_id: "c1", name: "apply_patch", input: "x" },
    { type: "custom_tool_call_output", call_id: "c1", output: "it does not apply" },
  ],
  tools: [custom],
  tool_choice: { type: "custom", name: "apply_patch" },
};
const written = (args: unknown): string =>
  `<tool_call>\n${JSON.stringify({ name: "apply_patch", arguments: args })}\n</tool_call>`;

test.each([
  ["as the function's one text", { input: PATCH }],
  ["bare, as recorded calls have it", PATCH],
])("a freeform call that the model writes %s comes back as its raw text, streamed too", async (_how, args) => {
  const service = await startService({ behaviour: { script: [written(args)] } });
  const { output } = (await service.post("/v1/responses", asked)).json();
  expect(output).toMatchObject([{ type: "custom_tool_call", name: "apply_patch", call_id: expect.any(String), input: PATCH }]);
  expect(output[0]).not.toHaveProperty("arguments");
  const streamed = (await service.post("/v1/responses", { ...asked, stream: true })).body;
  const events = [...streamed.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? ""));
  const of = (type: string) => events.filter((event) => event.type === type);
  expect(of("response.custom_tool_call_input.delta")).toMatchObject([{ delta: PATCH }]);
  expect(of("response.custom_tool_call_input.done")).toMatchObject([{ input: PATCH }]);
  expect(of("response.output_item.done")).toMatchObject([{ item: { type: "custom_tool_call", input: PATCH } }]);
});
