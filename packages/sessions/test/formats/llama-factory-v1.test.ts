import { describe, expect, it } from "vitest";
import { countsOf, droppedOf, importText, jsonLines, usersOf } from "../support/import-text.js";

const part = (type: string, value: string): unknown => ({ type, value });
const call = (name: string, at: string): unknown => part("tool_call", JSON.stringify({ name, arguments: { at } }));
const messages = [
  { role: "system", content: [part("text", "You help.")], loss_weight: 0 },
  { role: "user", content: [part("text", "Weather?"), part("image_url", "a.png")], loss_weight: 0 },
  {
    role: "assistant",
    content: [part("reasoning", "Two towns."), call("weather", "Oslo"), call("weather", "Bergen")],
    loss_weight: 1,
  },
  { role: "tool", content: [part("text", "rain")], loss_weight: 0 },
  { role: "tool", content: [part("text", "sun")], loss_weight: 0 },
  { role: "assistant", content: [part("text", "Rain and sun.")], loss_weight: 0 },
];
const tools = JSON.stringify([{ type: "function", function: { name: "weather", parameters: { type: "object" } } }]);

describe("LLaMA-Factory v1", () => {
  for (const key of ["messages", "conversations"])
    it(`reads typed parts in \`${key}\`: texts, reasoning, calls, results, weights and tools`, async () => {
      const imported = await importText(jsonLines({ [key]: messages, tools }, { [key]: messages.slice(1, 2) }));
      expect(imported.session_count).toBe(2);
      expect(countsOf(imported)).toEqual([2, 2, 2, 2]);
      const [session] = imported.sessions;
      expect(session?.tools.map(({ name }) => name)).toEqual(["weather"]);
      expect(usersOf(imported)[0]).toBe("Weather?\n\n[image]");
      expect(session?.steps[2]).toEqual({
        source: "agent",
        text: "",
        reasoning: "Two towns.",
        tool_calls: [
          { id: "call-2-0", name: "weather", arguments: '{"at":"Oslo"}' },
          { id: "call-2-1", name: "weather", arguments: '{"at":"Bergen"}' },
        ],
        observations: [
          { call_id: "call-2-0", content: "rain" },
          { call_id: "call-2-1", content: "sun" },
        ],
      });
      expect(session?.steps[3]).toMatchObject({ text: "Rain and sun.", context_only: "weight_zero" });
    });

  it("puts the tool_result parts of one message to their calls in order", async () => {
    const both = { role: "tool", content: [part("tool_result", "rain"), part("tool_result", "sun")] };
    const imported = await importText(jsonLines({ messages: [...messages.slice(0, 3), both] }));
    expect(imported.sessions[0]?.steps[2]?.observations?.map((one) => one.content)).toEqual(["rain", "sun"]);
  });

  it("reads the chosen side of a preference record, and counts the rejected one", async () => {
    const chosen = [messages[1], messages[5]];
    const imported = await importText(jsonLines({ chosen_messages: chosen, rejected_messages: [messages[1]] }));
    expect(countsOf(imported)).toEqual([1, 1, 0, 0]);
    expect(droppedOf(imported)).toEqual({ "rejected conversation": 1 });
  });
});
