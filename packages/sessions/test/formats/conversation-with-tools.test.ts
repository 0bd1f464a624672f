import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { importText, jsonLines } from "../support/import-text.js";

/** What this fixture's session says, the trainer renders, and compares with what the conversation is served as. */
const FIXTURE = new URL("../../../../trainer/tests/fixtures/conversation-with-tools.json", import.meta.url);

it("reads a conversation with tools into the session that the trainer's tests render", async () => {
  const { conversation, steps, tools } = JSON.parse(readFileSync(FIXTURE, "utf8"));
  const { sessions } = await importText(jsonLines(conversation));
  expect(sessions).toMatchObject([{ steps, tools }]);
});
