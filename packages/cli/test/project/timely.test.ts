import { writeFile } from "node:fs/promises";
import path from "node:path";
import { createClient, type Imprint } from "@imprint/client";
import { isRunning } from "@imprint/contracts";
import { expect, test } from "vitest";
import type { FollowedRun } from "../../src/project/follow-run.js";
import { timely } from "../../src/project/timely.js";
import { servedPlace } from "../support/service.js";

const said = (task: string): string =>
  JSON.stringify({
    messages: [
      { role: "user", content: `Write ${task}.` },
      { role: "assistant", content: `Here is ${task}.` },
    ],
  });

/** The project's only run, once it is over. */
async function over(client: Imprint): Promise<FollowedRun> {
  for await (const event of client.projects.events("math")) {
    const run = event.type === "resync" ? undefined : event.project.runs[0];
    if (run !== undefined && !isRunning(run) && event.type !== "resync") return { project: event.project, run };
  }
  throw new Error("The events ended.");
}

test("a run is called off within five seconds once its time is over, and goes on as the same run the next time", async () => {
  let gate = "";
  const at = await servedPlace((root) => {
    gate = path.join(root, "go");
    return { wait_for: gate, checkpoint: true };
  });
  const client = createClient({ baseUrl: at.server.url });
  const session_ids = await Promise.all(
    ["add", "sub"].map(async (task) => (await client.sessions.create(said(task))).session_id),
  );
  const notes: string[] = [];
  let isFree = true;
  let begun = 0;
  const run = async (): Promise<FollowedRun> => {
    await client.projects.run("math", { session_ids });
    begun += 1;
    const following = over(client);
    if (begun === 1) {
      // Somebody comes while it trains, and is gone once it has stopped.
      isFree = false;
      const came = performance.now();
      void following.then(async () => {
        expect(performance.now() - came).toBeLessThan(5_000);
        await writeFile(gate, "");
        isFree = true;
      });
    }
    return following;
  };
  const options = { client, name: "math", note: (text: string) => notes.push(text), isTime: async () => isFree };
  const followed = await timely(run, { when: "idle", ...options })([], new AbortController().signal);
  expect(followed?.run).toMatchObject({ run: 1, status: "completed", adapter_id: "math-1" });
  expect(begun).toBe(2);
  expect(notes).toEqual(["math stops here, and goes on once nobody has used this machine for five minutes."]);
}, 60_000);

test("one that somebody cancels is not begun again, and Ctrl-C ends the waiting", async () => {
  const at = await servedPlace();
  const client = createClient({ baseUrl: at.server.url });
  const cancelled = { run: { status: "cancelled" } } as FollowedRun;
  const options = { client, name: "math", note: () => undefined };
  const once = timely(async () => cancelled, { when: "night", ...options, isTime: async () => true });
  expect(await once([], new AbortController().signal)).toBe(cancelled);
  const never = timely(async () => cancelled, { when: "night", ...options, isTime: async () => false });
  const stop = new AbortController();
  const waiting = never([], stop.signal);
  stop.abort();
  expect(await waiting).toBeNull();
});
