import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint, start } from "../support/imprint.js";
import { EXAMPLES, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

/** A place with the adapter `gates`, and a session that it was not trained on. */
async function trained(behaviour: object = {}) {
  const at = await servedPlace(() => ({ ...behaviour }));
  const recorded = path.join(EXAMPLES, "harborline-gates.json");
  const { stdout } = await imprint(["import", recorded, path.join(EXAMPLES, "claude-code"), "--json"], at);
  await imprint(["train", "harborline-gates", "--adapter-id", "gates", "--watch"], at);
  const sessions: readonly { session_id: string }[] = JSON.parse((await imprint(["sessions", "--json"], at)).stdout).sessions;
  const other = sessions.find(({ session_id }) => session_id !== "harborline-gates")?.session_id;
  if (other === undefined) throw new Error(`no other session was imported: ${stdout}`);
  return { ...at, other };
}

it("says the verdict first and ends with 0 whatever it is; lists and the adapter's page show it", async () => {
  const { other, ...at } = await trained({ evaluate: { evaluation: { verdict: "harms", sentence: "It harms: so it is." } } });
  const said = await imprint(["evaluate", "gates", "--on", other.slice(0, 8), "--control", "latest"], at);
  expect(said).toMatchObject({ code: 0, stdout: expect.stringMatching(/^✗ It harms: so it is\.\n/) });
  expect(said.stdout).toContain("with gates, the control");
  expect(said.stderr).toContain("measuring\n");
  expect((await imprint(["adapters"], at)).stdout).toMatch(/EVALUATED\n.* harms\n$/);
  expect((await imprint(["adapter", "latest"], at)).stdout).toContain("✗ It harms: so it is.");
  const json = await imprint(["evaluate", "gates", "--on", other, "--actions", "0", "--seed", "4", "--json"], at);
  expect(JSON.parse(json.stdout)).toMatchObject({ verdict: "harms", seed: 4, actions: null, sessions: [{ session_id: other }] });
});

it("what was trained on and what is not known is refused in the command's words", async () => {
  const { other, ...at } = await trained();
  const refused = (...args: string[]) => imprint(["evaluate", "gates", ...args], at);
  expect(await refused("--on", "harborline-gates")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Name others with --on"),
  });
  expect(await refused("--on", "nowhere")).toMatchObject({ code: 2, stderr: expect.stringContaining('no session "nowhere"') });
  expect(await refused("--on", other, "--actions", "201")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--actions"),
  });
  expect(await refused("--on", other, "--control", "none")).toMatchObject({ code: 2, stderr: expect.stringContaining('"none"') });
});

it("Ctrl-C cancels the evaluation, and says that the same command goes on", async () => {
  const never = path.join(await mkdtemp(path.join(tmpdir(), "imprint-cli-")), "never");
  onTestFinished(() => rm(path.dirname(never), { recursive: true, force: true }));
  const { other, ...at } = await trained({ evaluate: { wait_for: never } });
  const running = start(["evaluate", "gates", "--on", other], at.env);
  await running.said("0 of ");
  running.child.kill("SIGINT");
  const { code, stderr } = await running.ended;
  expect(code).toBe(1);
  expect(stderr).toContain("the same command goes on");
});
