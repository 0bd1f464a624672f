/** A repository with a bug that its own check finds. */
export const FILES = {
  "gates.py": `def gate(level):
    return "open" if level >= 3 else "closed"
`,
  "check.py": `from gates import gate

assert gate(2) == "open", "the gate is closed at a level of 2"
assert gate(1) == "closed", "the gate is open at a level of 1"
`,
};
export const CHECK = ["python3", "check.py"];
export const TASK = "check.py fails. The gate has to be open from a level of 2 on. Mend gates.py.";

const step = (said, command) => `${said}\n<tool_call>\n${JSON.stringify({ name: "bash", arguments: { command } })}\n</tool_call>`;

/** What the expert answers, turn by turn. */
export const EXPERT = [
  step("I look at the code and at its check.", "cat gates.py check.py"),
  step("The gate opens at 3. I let it open at 2.", "sed -i 's/level >= 3/level >= 2/' gates.py"),
  step("I run the check.", "python3 check.py && echo passed"),
  step("The check passes.", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
];

/** mini-SWE-agent's arguments. A model that calls nothing is told so, and asked again, at most so often. */
export const ARGS = [
  ...["-t", TASK, "-y", "--exit-immediately", "-c", "mini.yaml"],
  ...["-c", "agent.step_limit=8", "-c", "model.model_kwargs.max_tokens=160"],
];
