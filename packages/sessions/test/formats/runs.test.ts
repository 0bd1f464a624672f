import { describe, expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, usersOf } from "../support/import-text.js";

const read = (value: unknown): ReturnType<typeof importText> => importText(JSON.stringify(value));

describe("native", () => {
  const step = { generated_code: "print('``` inside')", stdout: "hi", stderr: "", exit_code: 0, tests_passed: true };
  const run = {
    session_id: "run-1",
    task_description: "Print",
    task_type: "function",
    outcome: "success",
    timestamp: "2026-01-05T10:00:00+02:00",
    steps: [step],
  };

  it("fences code so that backticks inside do not end it, and gives the result without a call", async () => {
    const { sessions } = await read({ ...run, steps: [{ ...step, generated_code: "a = '```'\n" }] });
    expect(sessions[0]?.steps[1]).toEqual({
      source: "agent",
      text: "````python\na = '```'\n````",
      observations: [{ call_id: null, content: "exit code: 0\nstdout:\nhi\ntests passed: yes" }],
    });
    expect(sessions[0]).toMatchObject({ session_id: "run-1", task_type: "function", started_at: "2026-01-05T08:00:00.000Z" });
  });

  it.each([
    [{ tests_passed: false }, "failed"],
    [{ tests_passed: null, exit_code: 3 }, "failed"],
    [{ tests_passed: true, exit_code: 1 }, "failed"],
    [{ tests_passed: null, exit_code: null }, undefined],
  ])("makes a step with %j %s", async (result, reason) => {
    const { sessions } = await read({ ...run, steps: [{ ...step, ...result }] });
    expect(sessions[0]?.steps[1]?.context_only).toBe(reason);
  });

  it.each([
    ["success", "success"],
    ["exhausted", "failure"],
    [null, "unknown"],
    ["constructor", "unknown"],
  ])("takes outcome %s for %s", async (signal, outcome) => {
    expect((await read({ ...run, outcome: signal })).sessions[0]).toMatchObject({ outcome, outcome_signal: signal });
  });

  it("does not use an id that could not name a session", async () => {
    expect((await read({ ...run, session_id: "../etc/passwd" })).file_id).toMatch(/^native-[0-9a-f]{16}$/);
  });
});

describe("swe-agent", () => {
  const history = [
    { role: "system", content: "You fix bugs." },
    { role: "user", content: "A demonstration", is_demo: true },
    { role: "user", content: "Fix it" },
    { role: "assistant", content: "Look.\n```\nls\n```" },
    { role: "user", content: "main.py" },
    { role: "assistant", content: "Done." },
  ];

  it("keeps actions in plain text, puts what came back to them, and leaves out the demonstration", async () => {
    const imported = await read({ history, info: { exit_status: "exit_cost" } });
    expect(countsOf(imported)).toEqual([1, 2, 0, 0]);
    expect(imported.sessions[0]?.steps[2]?.observations).toEqual([{ call_id: null, content: "main.py" }]);
    expect(droppedOf(imported)).toEqual({ demonstration: 1 });
    expect(imported.sessions[0]).toMatchObject({ outcome: "failure", outcome_signal: "exit_cost" });
  });

  it("does not take handing in for success", async () => {
    for (const status of ["submitted", "submitted (exit_context)"])
      expect((await read({ history, info: { exit_status: status } })).outcome).toBe("unknown");
  });

  it("reads the attempts of a file without history", async () => {
    const trajectory = [
      { action: "ls", observation: "main.py", response: "Look.", thought: "Look.", query: history.slice(0, 3) },
    ];
    const imported = await read({ trajectory, info: {} });
    expect(usersOf(imported)).toEqual(["Fix it"]);
    expect(answersOf(imported)).toEqual(["Look."]);
  });
});

describe("mini-swe-agent", () => {
  const messages = [
    { role: "system", content: "One bash block." },
    { role: "user", content: "Solve it" },
    { role: "assistant", content: "THOUGHT: x\n\n```bash\nls\n```" },
    { role: "user", content: "<returncode>0</returncode>\n<output>\na\n</output>" },
    { role: "assistant", content: "no block" },
    { role: "user", content: "Please always provide EXACTLY ONE action in triple backticks, found 0 actions." },
    { role: "assistant", content: "```bash\necho done\n```" },
    { role: "user", content: "" },
  ];

  it("knows a bare list of messages by its commands and return codes", async () => {
    const imported = await read(messages);
    expect(imported.format).toBe("mini-swe-agent");
    expect(countsOf(imported)).toEqual([1, 3, 0, 0]);
    expect(imported.sessions[0]?.steps.flatMap((step) => step.observations ?? [])).toHaveLength(2);
  });

  it("takes the patch at a run's end for its submission, not for a request", async () => {
    const patch = { role: "user", content: "diff --git a/slug.js b/slug.js\n--- a/slug.js\n+++ b/slug.js\n" };
    const imported = await read({ trajectory_format: "mini-swe-agent-1", info: {}, messages: [...messages.slice(0, 7), patch] });
    expect(countsOf(imported)).toEqual([1, 3, 0, 0]);
    expect(imported.sessions[0]?.steps.at(-1)?.observations).toEqual([{ call_id: null, content: patch.content }]);
  });

  it("takes the end from the header or from the exit message, which is no turn", async () => {
    const exit = { role: "exit", content: "Timed out", extra: { exit_status: "Timeout" } };
    const imported = await read({ trajectory_format: "mini-swe-agent-1.1", info: {}, messages: [...messages.slice(0, 2), exit] });
    expect(countsOf(imported)).toEqual([1, 0, 0, 0]);
    expect(imported.sessions[0]).toMatchObject({ outcome: "failure", outcome_signal: "Timeout" });
  });

  it("reads answers that are kept as items of the Responses API", async () => {
    const response = {
      object: "response",
      output: [
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Listing." }] },
        { type: "function_call", name: "bash", arguments: '{"command":"ls"}', call_id: "c1" },
      ],
    };
    const result = { type: "function_call_output", call_id: "c1", output: "a" };
    const imported = await read({ trajectory_format: "mini-swe-agent-1.1", info: {}, messages: [messages[1], response, result] });
    expect(countsOf(imported)).toEqual([1, 1, 1, 1]);
  });
});

describe("atif", () => {
  const run = { schema_version: "ATIF-v1.7", session_id: "run-7", agent: { name: "a", version: "1" } };
  const call = (id: string): unknown => ({ tool_call_id: id, function_name: "bash", arguments: { c: id } });

  it("puts results without a call id to the calls in their order, and to none where the step made none", async () => {
    const imported = await read({
      ...run,
      steps: [
        { source: "user", message: "Go" },
        {
          source: "agent",
          message: "",
          tool_calls: [call("x"), call("y")],
          observation: { results: [{ content: "1" }, { source_call_id: null, content: "2" }] },
        },
        { source: "agent", message: "ls", observation: { results: [{ content: "env" }] } },
      ],
    });
    expect(countsOf(imported)).toEqual([1, 2, 2, 2]);
    expect(imported.sessions[0]?.steps.map((step) => step.observations?.map((one) => one.call_id))).toEqual([
      undefined,
      ["x", "y"],
      [null],
    ]);
  });

  it("leaves out copied context and sub-agents' runs", async () => {
    const imported = await read({
      ...run,
      agent: { name: "a", version: "1", extra: { continuation_index: 2 } },
      subagent_trajectories: [{}],
      steps: [
        { source: "user", message: "Old", is_copied_context: true },
        { source: "agent", message: "Old", is_copied_context: true },
        { source: "system", message: "Prompt" },
        { source: "system", message: "Note" },
        {
          source: "agent",
          message: [
            { type: "text", text: "New" },
            { type: "image", source: {} },
          ],
        },
        { source: "agent", message: "Dispatched by a rule", llm_call_count: 0 },
      ],
    });
    expect(countsOf(imported)).toEqual([0, 1, 0, 0]);
    expect(answersOf(imported)[0]).toBe("New\n\n[image]");
    expect(droppedOf(imported)).toEqual({ "copied context": 2, "sub-agent lines": 1 });
    expect(imported.file_id).toBe("run-7-cont-2");
  });

  it("takes a system step for the task where no step is the user's", async () => {
    const imported = await read({
      ...run,
      steps: [
        { source: "system", message: "Do it" },
        { source: "agent", message: "Ok" },
      ],
    });
    expect(usersOf(imported)).toEqual(["Do it"]);
  });
});

describe("atif: system steps", () => {
  const step = (source: string, message: string): unknown => ({ source, message });
  const run = (...steps: unknown[]): string => JSON.stringify({ schema_version: "ATIF-v1.5", session_id: "s", steps });
  const order = async (text: string): Promise<string[]> =>
    (await importText(text)).sessions.flatMap(({ steps }) => steps.map((one) => `${one.source} ${one.text}`));

  it("stay where they are in the middle of a run", async () => {
    const text = run(step("user", "Go"), step("agent", "One."), step("system", "Time is short."), step("agent", "Two."));
    expect(await order(text)).toEqual(["user Go", "agent One.", "system Time is short.", "agent Two."]);
  });

  it("are the task before the first answer where no user speaks, and only there", async () => {
    const task = run(step("system", "You help."), step("system", "Go"), step("agent", "One."), step("system", "Hurry."));
    expect(await order(task)).toEqual(["system You help.", "user Go", "agent One.", "system Hurry."]);
    expect(await order(run(step("agent", "One."), step("system", "Hurry.")))).toEqual(["agent One.", "system Hurry."]);
  });
});
