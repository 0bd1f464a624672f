import type { Imprint } from "@imprint/client";
import { expect, test, vi } from "vitest";
import { noteWait } from "../../src/chat/converse.js";

test("what an answer waits for is said until it begins, and is not where the service does not answer", async () => {
  const told = ["the model is written for llama.cpp, once: reading\u001b[2J the weights"];
  const health = vi.fn<() => Promise<{ preparing: string[] }>>();
  health.mockRejectedValueOnce(new Error("gone")).mockResolvedValue({ preparing: told });
  const notes: string[] = [];
  const begun = noteWait({ client: { health } as unknown as Imprint, note: (text) => notes.push(text) }, 1);
  await vi.waitFor(() => expect(notes.length).toBeGreaterThan(1));
  begun();
  expect(notes[0]).toMatch(/^the model is written for llama\.cpp, once: reading.* the weights \(0 s\)$/);
  expect(notes.join()).not.toContain("\u001b");
  const said = notes.length;
  await health();
  expect(notes).toHaveLength(said);
});
