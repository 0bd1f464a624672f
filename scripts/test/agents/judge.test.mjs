import { expect, test } from "vitest";
import { AGENTS } from "../../../packages/cli/src/launch/agents.ts";
import { AFTER, BEFORE, CLIENTS, TASK } from "../../lib/agents/clients.mjs";
import { judge } from "../../lib/agents/judge.mjs";

const CALL = '<tool_call>\n{"name":"bash","arguments":{}}\n</tool_call>';
const script = [CALL, "Done."];

const session = {
  source: { agent: "pi" },
  tools: [{ name: "bash" }],
  steps: [
    { source: "user", text: "Say hi." },
    { source: "agent", text: "Hi.", context_only: "synthetic" },
    { source: "user", text: TASK },
    { source: "agent", text: "", tool_calls: [{ name: "bash" }], observations: [{ content: "" }] },
    { source: "agent", text: "Done." },
  ],
};
const title = { source: { agent: "pi" }, tools: [], steps: [{ source: "user", text: TASK }] };

const good = { failure: null, text: AFTER, sessions: [title, session], script, changed: [] };
const withSteps = (change) => ({ sessions: [{ ...session, steps: change(session.steps) }] });

test("nothing is wrong where the file is as asked and one session holds the conversation", () => {
  expect(judge(good)).toEqual([]);
});

test.each([
  ["the agent failed", { failure: new Error("pi exited with code 1") }, /exited with code 1/],
  ["the file is as it was", { text: BEFORE }, /status.txt holds "gates closed/],
  ["a setting of the user was changed", { changed: [".pi/settings.json"] }, /the user's .pi.settings.json was changed/],
  ["nothing was recorded", { sessions: [] }, /no session has the task; there are 0/],
  ["a title alone was recorded", { sessions: [title] }, /0 answers, not 2/],
  ["the session is nobody's", { sessions: [{ ...session, source: { agent: null } }] }, /whose it is/],
  ["the session has no tools", { sessions: [{ ...session, tools: [] }] }, /no tools/],
  ["the last answer is missing", withSteps((steps) => steps.slice(0, -1)), /1 answers, not 2/],
  [
    "another tool was called",
    withSteps((steps) => steps.with(3, { ...steps[3], tool_calls: [{ name: "rm" }] })),
    /answer 1 .*rm/,
  ],
  ["the result is missing", withSteps((steps) => steps.with(3, { ...steps[3], observations: [] })), /call 1 .* no result/],
])("it is told that %s", (_, change, sentence) => {
  expect(judge({ ...good, ...change }).join("\n")).toMatch(sentence);
});

test("every agent that is checked is one that launch starts", () => {
  expect(Object.keys(CLIENTS).filter((name) => !Object.hasOwn(AGENTS, name))).toEqual([]);
});
