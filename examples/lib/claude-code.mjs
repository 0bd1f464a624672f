import { createHash } from "node:crypto";
import { smallestEdit } from "./edit.mjs";

const CHECK = "python3 check_gates.py";

/** The recording as Claude Code writes it: one line a content block, several lines of one `message.id`, results as user lines. */
export function claudeCodeLines({ sessionUuid, task, startedAt, attempts, remarks }) {
  const lines = [];
  const stamp = () => new Date(Date.parse(startedAt) + lines.length * 4000).toISOString();
  const hash = (text) => createHash("sha256").update(`${sessionUuid} ${text}`).digest("hex");
  const uuid = (n) => hash(`line ${n}`).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-a$4-$5");
  const add = (type, message, more = {}) =>
    lines.push({
      parentUuid: lines.length === 0 ? null : uuid(lines.length - 1),
      isSidechain: false,
      userType: "external",
      cwd: "/home/dev/harborline",
      sessionId: sessionUuid,
      version: "2.1.42",
      gitBranch: "main",
      type,
      message,
      uuid: uuid(lines.length),
      timestamp: stamp(),
      ...more,
    });
  const assistant = (id, blocks) => {
    for (const [index, block] of blocks.entries()) {
      const stop_reason = index < blocks.length - 1 ? null : block.type === "tool_use" ? "tool_use" : "end_turn";
      const message = { id: `msg_${id}`, type: "message", role: "assistant", model: "recorded-example", content: [block] };
      add("assistant", { ...message, stop_reason, stop_sequence: null, usage: { input_tokens: 0, output_tokens: 0 } });
    }
  };
  const result = (id, content, toolUseResult, is_error) =>
    add("user", { role: "user", content: [{ type: "tool_result", tool_use_id: id, content, is_error }] }, { toolUseResult });

  add("user", { role: "user", content: task });
  for (const [index, step] of attempts.entries()) {
    const { attempt } = step;
    const written = `toolu_${hash(`write ${attempt}`).slice(0, 24)}`;
    const checked = `toolu_${hash(`check ${attempt}`).slice(0, 24)}`;
    const file_path = "/home/dev/harborline/gates.py";
    const before = attempts[index - 1]?.generated_code;
    const tool =
      before === undefined
        ? { name: "Write", input: { file_path, content: step.generated_code } }
        : { name: "Edit", input: { file_path, ...smallestEdit(before, step.generated_code) } };
    assistant(hash(`message ${attempt}a`).slice(0, 24), [
      { type: "text", text: remarks[index] },
      { type: "tool_use", id: written, ...tool },
    ]);
    const did = before === undefined ? "created" : "updated";
    result(written, `The file ${file_path} has been ${did}.`, { filePath: file_path }, false);
    assistant(hash(`message ${attempt}b`).slice(0, 24), [
      { type: "tool_use", id: checked, name: "Bash", input: { command: CHECK, description: "Run the checks" } },
    ]);
    const output = [step.stdout, step.stderr, step.exit_code === 0 ? "" : `Exit code ${step.exit_code}\n`].join("").trimEnd();
    const seen = { stdout: step.stdout, stderr: step.stderr, interrupted: false, isImage: false };
    result(checked, output, seen, step.exit_code !== 0);
  }
  assistant(hash("message end").slice(0, 24), [{ type: "text", text: remarks[attempts.length] }]);
  return lines;
}
