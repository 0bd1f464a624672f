/** The task, and what a scratch repository holds before and after it. */
export const TASK = "In status.txt, replace closed by open.";
export const FILE = "status.txt";
export const BEFORE = "gates closed\n";
export const AFTER = "gates open\n";

const DONE = "The gates are open.";

const call = (name, args) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
const shell = `printf 'gates open\\n' > ${FILE}`;

/**
 * By the names that `imprint launch` takes: `args` of the agent for this task, and the `script` of its model in the repository `at`.
 * `package` is the one whose install script puts the program in its place.
 */
export const CLIENTS = {
  mini: {
    args: ["-t", TASK, "-y", "--exit-immediately"],
    script: () => [call("bash", { command: shell }), call("bash", { command: "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" })],
  },
  aider: {
    args: ["--message", TASK, "--yes-always", "--no-pretty", "--no-detect-urls", "--no-auto-commits", FILE],
    script: () => [`${FILE}\n\`\`\`\n${AFTER}\`\`\`\n`],
  },
  codex: {
    args: ["exec", "--dangerously-bypass-approvals-and-sandbox", TASK],
    script: () => [call("exec_command", { cmd: shell }), DONE],
  },
  pi: {
    args: ["-p", TASK],
    script: () => [call("edit", { path: FILE, edits: [{ oldText: BEFORE, newText: AFTER }] }), DONE],
  },
  opencode: {
    package: "opencode-ai",
    args: ["run", TASK],
    script: (at) => [
      call("read", { filePath: at(FILE) }),
      call("edit", { filePath: at(FILE), oldString: "closed", newString: "open" }),
      DONE,
    ],
  },
  claude: {
    package: "@anthropic-ai/claude-code",
    args: ["-p", TASK, "--permission-mode", "acceptEdits"],
    script: (at) => [
      call("Read", { file_path: at(FILE) }),
      call("Edit", { file_path: at(FILE), old_string: "closed", new_string: "open" }),
      DONE,
    ],
  },
  continue: {
    args: ["-p", TASK, "--auto"],
    script: (at) => [
      call("Read", { filepath: at(FILE) }),
      call("Edit", { file_path: at(FILE), old_string: "closed", new_string: "open" }),
      DONE,
    ],
  },
};
