import type { Session, SessionFormat } from "@imprint/contracts";
import { importSessions } from "@imprint/sessions";

/** What happened in a session, as each agent would write it down. */
export type Act =
  | { readonly asks: string }
  | { readonly reads: string; readonly text: string }
  | { readonly writes: string; readonly text: string }
  | { readonly replaces: string; readonly old: string; readonly text: string }
  | { readonly runs: string; readonly output: string; readonly code: number };

export interface Story {
  readonly folder: string;
  readonly branch: string;
  /** When it begins, in milliseconds since 1970. */
  readonly at: number;
  readonly acts: readonly Act[];
}

type Writer = (story: Story) => string;

const lines = (records: readonly unknown[]): string => records.map((one) => `${JSON.stringify(one)}\n`).join("");
const numbered = (text: string, between: string, width: number): string =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map((line, at) => `${String(at + 1).padStart(width, width === 5 ? "0" : " ")}${between}${line}`)
    .join("\n");
const time = ({ at }: Story, place: number): string => new Date(at + place * 1000).toISOString();

const claudeCode: Writer = (story) => {
  const { folder: cwd, branch: gitBranch, acts } = story;
  const head = { isSidechain: false, sessionId: "3f1e6f0a-aaaa-4bbb-8ccc-000000000009", version: "2.1.0", cwd, gitBranch };
  const entries: object[] = [];
  const add = (type: string, message: object, place: number): void => {
    const [uuid, parentUuid] = [`u${entries.length}`, entries.length === 0 ? null : `u${entries.length - 1}`];
    entries.push({ ...head, type, uuid, parentUuid, timestamp: time(story, place), message });
  };
  const call = (place: number, name: string, input: object, content: string, is_error = false): void => {
    const id = `toolu_${place}`;
    add("assistant", { id: `m${place}`, role: "assistant", model: "m", content: [{ type: "tool_use", id, name, input }] }, place);
    add("user", { role: "user", content: [{ type: "tool_result", tool_use_id: id, content, is_error }] }, place);
  };
  acts.forEach((act, place) => {
    if ("asks" in act) add("user", { role: "user", content: act.asks }, place);
    else if ("reads" in act) call(place, "Read", { file_path: `${cwd}/${act.reads}` }, numbered(act.text, "→", 6));
    else if ("writes" in act) call(place, "Write", { file_path: `${cwd}/${act.writes}`, content: act.text }, "File created");
    else if ("replaces" in act)
      call(place, "Edit", { file_path: `${cwd}/${act.replaces}`, old_string: act.old, new_string: act.text }, "File updated");
    else
      call(
        place,
        "Bash",
        { command: act.runs },
        act.code === 0 ? act.output : `Exit code ${act.code}\n${act.output}`,
        act.code !== 0,
      );
  });
  return lines(entries);
};

const patchOf = (act: Act): string | null => {
  const body = (sign: string, text: string): string =>
    text
      .replace(/\n$/, "")
      .split("\n")
      .map((line) => `${sign}${line}`)
      .join("\n");
  const whole = (inner: string): string => `*** Begin Patch\n${inner}\n*** End Patch\n`;
  if ("writes" in act) return whole(`*** Add File: ${act.writes}\n${body("+", act.text)}`);
  if ("replaces" in act) return whole(`*** Update File: ${act.replaces}\n@@\n${body("-", act.old)}\n${body("+", act.text)}`);
  return null;
};

const codex: Writer = (story) => {
  const { folder: cwd, branch, acts } = story;
  const item = (place: number, payload: object): object => ({ timestamp: time(story, place), type: "response_item", payload });
  const shell = (place: number, command: string, output: string, code: number): readonly object[] => [
    item(place, {
      type: "function_call",
      name: "exec_command",
      arguments: JSON.stringify({ cmd: command, workdir: cwd }),
      call_id: `c${place}`,
    }),
    item(place, {
      type: "function_call_output",
      call_id: `c${place}`,
      output: `Chunk ID: 1\nProcess exited with code ${code}\nOutput:\n${output}`,
    }),
  ];
  const meta = { id: "019f0000-1111-7222-8333-444455556699", cli_version: "0.99.0", cwd, git: { branch } };
  return lines([
    { timestamp: time(story, 0), type: "session_meta", payload: meta },
    ...acts.flatMap((act, place): readonly object[] => {
      const patch = patchOf(act);
      if ("asks" in act)
        return [item(place, { type: "message", role: "user", content: [{ type: "input_text", text: act.asks }] })];
      if ("reads" in act) return shell(place, `cat ${act.reads}`, act.text, 0);
      if ("runs" in act) return shell(place, act.runs, act.output, act.code);
      return [
        item(place, { type: "custom_tool_call", name: "apply_patch", input: patch, call_id: `c${place}` }),
        item(place, { type: "custom_tool_call_output", call_id: `c${place}`, output: "Success. Updated the following files" }),
      ];
    }),
  ]);
};

const opencode: Writer = (story) => {
  const { folder: directory, acts } = story;
  const sessionID = "ses_made9";
  const message = (place: number, info: object, part: object): object => ({
    info: { id: `msg_${place}`, sessionID, time: { created: story.at + place * 1000 }, ...info },
    parts: [{ id: `prt_${place}`, sessionID, messageID: `msg_${place}`, ...part }],
  });
  const call = (place: number, tool: string, input: object, output: string): object => {
    const state = { status: "completed", input, output, title: tool, metadata: {}, time: {} };
    const answer = { role: "assistant", modelID: "m", providerID: "p", mode: "build" };
    return message(place, answer, { type: "tool", tool, callID: `c${place}`, state });
  };
  const messages = acts.map((act, place) => {
    if ("asks" in act) return message(place, { role: "user" }, { type: "text", text: act.asks });
    if ("reads" in act)
      return call(place, "read", { filePath: `${directory}/${act.reads}` }, `<file>\n${numbered(act.text, "| ", 5)}\n</file>`);
    if ("writes" in act) return call(place, "write", { filePath: `${directory}/${act.writes}`, content: act.text }, "");
    if ("replaces" in act)
      return call(place, "edit", { filePath: `${directory}/${act.replaces}`, oldString: act.old, newString: act.text }, "");
    return call(place, "bash", { command: act.runs, description: "x" }, act.output);
  });
  const info = {
    id: sessionID,
    projectID: "p",
    directory,
    title: "t",
    version: "1.0.0",
    time: { created: story.at, updated: story.at },
  };
  return JSON.stringify({ info, messages });
};

const miniSweAgent: Writer = ({ folder: cwd, acts }) => {
  const run = (command: string, output: string, code: number): readonly object[] => [
    { role: "assistant", content: `I go on.\n\n\`\`\`mswea_bash_command\n${command}\n\`\`\`` },
    { role: "user", content: `<returncode>${code}</returncode>\n<output>\n${output}</output>` },
  ];
  const messages = acts.flatMap((act): readonly object[] => {
    const patch = patchOf(act);
    if ("asks" in act)
      return [{ role: "user", content: `Please solve this issue: ${act.asks}\n\nYou can execute bash commands and edit files.` }];
    if ("reads" in act) return run(`cat ${act.reads}`, act.text, 0);
    if ("runs" in act) return run(act.runs, act.output, act.code);
    if ("writes" in act) return run(`cat <<'EOF' > ${act.writes}\n${act.text}EOF`, "", 0);
    return run(`apply_patch <<'EOF'\n${patch}EOF`, "Done", 0);
  });
  const info = { exit_status: "Submitted", mini_version: "2", config: { environment: { cwd } } };
  return JSON.stringify({ info, messages, trajectory_format: "mini-swe-agent-1.1" });
};

const WRITERS = { "claude-code": claudeCode, codex, opencode, "mini-swe-agent": miniSweAgent } as const;
export type Agent = keyof typeof WRITERS;
export const AGENTS = Object.keys(WRITERS).filter((name): name is Agent => name in WRITERS);

export const recording = (agent: Agent, story: Story): string => WRITERS[agent](story);

/** The session that an import makes of an agent's recording. */
export async function recorded(agent: Agent, story: Story): Promise<Session> {
  const { sessions, format } = await importSessions([{ name: "recording.json", bytes: Buffer.from(recording(agent, story)) }]);
  const [session] = sessions;
  if (session === undefined || format !== (agent as SessionFormat)) throw new Error(`read as ${format}`);
  return session;
}
