import { describe, expect, it } from "vitest";
import { countsOf, droppedOf, importText, jsonLines, usersOf } from "../support/import-text.js";

let last: string | null = null;
const line = (type: "user" | "assistant", uuid: string, message: object): unknown => {
  const made = { type, uuid, parentUuid: last, sessionId: "s-1", isSidechain: false, message: { role: type, ...message } };
  last = uuid;
  return made;
};
const user = (uuid: string, content: string): unknown => line("user", uuid, { content });
const answer = (uuid: string, text: string): unknown => line("assistant", uuid, { id: uuid, content: [{ type: "text", text }] });
const opening = (): unknown[] => {
  last = null;
  return [user("u1", "Hello"), answer("a1", "Hi.")];
};
const input = (uuid: string, command: string): unknown => user(uuid, `<bash-input>${command}</bash-input>`);
const output = (uuid: string, out: string, err = ""): unknown =>
  user(uuid, `<bash-stdout>${out}</bash-stdout><bash-stderr>${err}</bash-stderr>`);

describe("claude-code: what a person runs with !", () => {
  it("stands ahead of the next request, in the same turn", async () => {
    const imported = await importText(
      jsonLines(
        ...opening(),
        input("b1", "make test"),
        output("b2", "1 failed\n", "exit 2"),
        user("u2", "Please fix these."),
        answer("a2", "Fixed."),
      ),
    );
    expect(countsOf(imported)).toEqual([2, 2, 0, 0]);
    expect(usersOf(imported)[1]).toBe("$ make test\n1 failed\nexit 2\n\nPlease fix these.");
    expect(droppedOf(imported)).toEqual({});
  });

  it("is the environment's word where the model goes on without a request", async () => {
    const imported = await importText(
      jsonLines(...opening(), input("b1", "ls"), output("b2", "a.txt"), answer("a2", "I see a.txt.")),
    );
    expect(countsOf(imported)).toEqual([1, 2, 0, 0]);
    expect(imported.sessions[0]?.steps[1]?.observations).toEqual([{ call_id: null, content: "$ ls\na.txt" }]);
  });

  it("is the request where nothing else was asked before the first answer", async () => {
    last = null;
    const imported = await importText(jsonLines(input("b1", "ls"), output("b2", "a.txt"), answer("a1", "One file.")));
    expect(usersOf(imported)).toEqual(["$ ls\na.txt"]);
  });

  it("is left out, and counted, where nothing follows", async () => {
    const imported = await importText(jsonLines(...opening(), input("b1", "ls"), output("b2", "")));
    expect(countsOf(imported)).toEqual([1, 1, 0, 0]);
    expect(droppedOf(imported)).toEqual({ "local command": 1 });
  });
});
