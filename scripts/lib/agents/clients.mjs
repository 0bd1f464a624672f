/** The task, and what a scratch repository holds before and after it. */
export const TASK = "In status.txt, replace closed by open.";
export const FILE = "status.txt";
export const BEFORE = "gates closed\n";
export const AFTER = "gates open\n";

const DONE = "The gates are open.";

const call = (name, args) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
const shell = `printf 'gates open\\n' > ${FILE}`;

/** Where nothing answers: an agent that asks here was not told better. */
export const NOWHERE = "http://127.0.0.1:9";

/**
 * By the names that `imprint launch` takes: the `script` of the agent's model in the repository `at`, and `settings` of the user's own, by
 * their places in the home folder, that lead elsewhere. `package` is the one whose install script puts the program in its place. `more`
 * are arguments beside those with which it works alone, `brief` further ones where the model may never come to an end.
 */
export const CLIENTS = {
  mini: {
    brief: ["-c", "mini.yaml", "-c", "agent.step_limit=3"],
    script: () => [call("bash", { command: shell }), call("bash", { command: "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" })],
  },
  aider: {
    more: [FILE],
    settings: { ".env": `OPENAI_API_BASE=${NOWHERE}\nOPENAI_API_KEY=own\n`, ".aider.conf.yml": "model: openai/own\n" },
    script: () => [`${FILE}\n\`\`\`\n${AFTER}\`\`\`\n`],
  },
  codex: {
    settings: {
      ".codex/config.toml": `model = "own"\nmodel_provider = "own"\n[model_providers.own]\nname = "own"\nbase_url = "${NOWHERE}"\n`,
    },
    script: () => [call("exec_command", { cmd: shell }), DONE],
  },
  pi: {
    settings: { ".pi/agent/settings.json": JSON.stringify({ defaultProvider: "anthropic", defaultModel: "own" }) },
    script: () => [call("edit", { path: FILE, edits: [{ oldText: BEFORE, newText: AFTER }] }), DONE],
  },
  opencode: {
    package: "opencode-ai",
    settings: {
      ".config/opencode/opencode.json": JSON.stringify({
        $schema: "https://opencode.ai/config.json",
        model: "own/own",
        small_model: "own/own",
      }),
    },
    script: (at) => [
      call("read", { filePath: at(FILE) }),
      call("edit", { filePath: at(FILE), oldString: "closed", newString: "open" }),
      DONE,
    ],
  },
  claude: {
    package: "@anthropic-ai/claude-code",
    settings: { ".claude/settings.json": JSON.stringify({ env: { ANTHROPIC_BASE_URL: NOWHERE, ANTHROPIC_MODEL: "own" } }) },
    script: (at) => [
      call("Read", { file_path: at(FILE) }),
      call("Edit", { file_path: at(FILE), old_string: "closed", new_string: "open" }),
      DONE,
    ],
  },
  continue: {
    settings: { ".continue/config.yaml": "name: own\nversion: 1.0.0\nschema: v1\nmodels: []\n" },
    script: (at) => [
      call("Read", { filepath: at(FILE) }),
      call("Edit", { file_path: at(FILE), old_string: "closed", new_string: "open" }),
      DONE,
    ],
  },
  cline: {
    settings: {
      ".cline/data/settings/providers.json": JSON.stringify({
        version: 1,
        lastUsedProvider: "anthropic",
        modes: {},
        providers: {},
      }),
    },
    script: (at) => [
      call("read_files", { files: [{ path: at(FILE) }] }),
      call("editor", { path: at(FILE), old_text: "closed", new_text: "open" }),
      DONE,
    ],
  },
};
