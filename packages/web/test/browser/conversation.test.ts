import { expect, test } from "vitest";
import { expectNoFaults, openPage, provideBrowser, TEST_MS } from "./support/browser.js";
import { makeFolder, makeSession, putSession, startService } from "./support/stage.js";

provideBrowser();

const call = (id: string, name: string, given: object) => ({ id, name, arguments: JSON.stringify(given) });

const STEPS = [
  { source: "system" as const, text: "Be careful." },
  { source: "user" as const, text: "The lock is wrong. My key is <SECRET:aws-key>." },
  {
    source: "agent" as const,
    text: "I look.",
    tool_calls: [call("1", "Edit", { file_path: "lock.py", old_string: "width = 3", new_string: "width = 4" })],
    observations: [{ call_id: "1", content: "Done.", is_error: true }],
  },
  { source: "agent" as const, text: "Again.", context_only: "failed" as const },
  ...Array.from({ length: 100 }, (_, at) => ({ source: "user" as const, text: `Question ${at}` })),
];

test(
  "a session reads as the conversation it was: calls fold, edits are coloured, and it is searched",
  async () => {
    const dataDir = makeFolder();
    putSession(dataDir, "talk", makeSession("talk", { steps: STEPS }));
    const service = await startService({ dataDir });
    const page = await openPage(`${service.url}/#/sessions/talk`);
    const card = page.getByRole("region", { name: "Conversation" });
    const turns = card.locator(".turn");
    await turns.nth(39).waitFor();
    expect(await turns.count()).toBe(40);
    expect(await card.locator(".secret").textContent()).toBe("<SECRET:aws-key>");
    expect(await card.locator('.turn[data-learned="true"]').count()).toBe(1);
    await card.getByText("not learned: failed").waitFor();

    await card.getByText("lock.py").click();
    expect(await card.locator("del").textContent()).toBe("-width = 3\n");
    expect(await card.locator("ins").textContent()).toBe("+width = 4");
    await card.getByText("Done.").waitFor();

    await card.getByRole("button", { name: "Show more of 64 turns" }).click();
    expect(await turns.count()).toBe(80);
    await card.getByRole("searchbox", { name: "Search in it" }).fill("question 7");
    await card.getByText("Found in 11 turns.").waitFor();
    expect(await turns.first().textContent()).toContain("Question 7");
    await card.getByRole("searchbox").fill("WIDTH = 4");
    await card.getByText("Found in 1 turn.").waitFor();
    expectNoFaults(page);
  },
  TEST_MS,
);
