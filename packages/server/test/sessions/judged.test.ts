import { join } from "node:path";
import { endingOf, type SessionSummary } from "@imprint/contracts";
import Libsql from "libsql";
import { expect, test } from "vitest";
import { type Service, startLora, startService } from "../support/service.js";

/** What Codex writes of a turn that commits, and is taken back by the person's last words. */
const complained = (last: string): string => {
  const line = (second: number, payload: object, type = "response_item"): string =>
    JSON.stringify({ timestamp: new Date(Date.UTC(2026, 2, 3, 0, 0, second)).toISOString(), type, payload });
  const said = (role: string, type: string, text: string): object => ({ type: "message", role, content: [{ type, text }] });
  const command = JSON.stringify({ command: "git commit -m Round" });
  return [
    line(0, { id: "s1", cwd: "/srv/shop", git: { branch: "main" } }, "session_meta"),
    line(1, said("user", "input_text", "Round the prices.")),
    line(2, { type: "function_call", name: "shell", call_id: "c1", arguments: command }),
    line(3, { type: "function_call_output", call_id: "c1", output: "[main 1a2b3c4] Round prices\n 1 file changed" }),
    line(4, said("assistant", "output_text", "Done and committed.")),
    line(5, said("user", "input_text", last)),
  ].join("\n");
};

const send = async (service: Service, payload: string): Promise<SessionSummary> =>
  (await service.call({ method: "POST", url: "/sessions", payload, headers: { "content-type": "application/x-ndjson" } })).json();
const remarksOf = async (service: Service): Promise<string> =>
  (await service.post("/sessions/s1/preview", {})).json().remarks.join("\n");

test("a session is judged by what it shows, and found by that", async () => {
  const service = await startService();
  await send(service, complained("No, revert that."));
  const { sessions } = (await service.get("/sessions?search=failure+judged")).json();
  expect(sessions).toMatchObject([
    {
      outcome: "unknown",
      judged: {
        outcome: "failure",
        evidence: [
          { kind: "complaint", what: '"No, revert that."' },
          { kind: "replied", what: "an answer at the end" },
          { kind: "commit", what: '1a2b3c4 "Round prices"', commit: "1a2b3c4" },
        ],
      },
    },
  ]);
});

test("one that seems to have failed is trained on as before, and its preview says so", async () => {
  const service = await startService();
  await send(service, complained("No, revert that."));
  expect(await remarksOf(service)).toContain(
    's1 seems to have failed (complaint "No, revert that."; replied an answer at the end; commit 1a2b3c4 "Round prices") and is trained on all the same: imprint label s1 failure leaves it out.',
  );
  expect((await service.ended(await startLora(service, { session_id: "s1" }))).status).toBe("completed");
});

test("a label goes before the evidence, and the same recording again does not take it back", async () => {
  const service = await startService();
  await send(service, complained("No, revert that."));
  await service.call({ method: "PATCH", url: "/sessions/s1", payload: { outcome: "success" } });
  expect(await remarksOf(service)).not.toContain("seems to have failed");
  const again = await send(service, complained("No, revert that."));
  expect([again.outcome, again.judged?.outcome, endingOf(again)]).toEqual(["success", "failure", "success"]);
});

test("what an earlier version stored is judged at a start", async () => {
  const service = await startService();
  await send(service, complained("No, revert that."));
  await service.close(0);
  const registry = new Libsql(join(service.dataDir, "registry.db"));
  registry.exec("update sessions set summary = json_remove(summary, '$.judged')");
  registry.exec("alter table adapters drop column tasks; pragma user_version = 13");
  registry.close();
  const again = await startService({ dataDir: service.dataDir });
  expect((await again.get("/sessions/s1")).json().judged?.outcome).toBe("failure");
});
