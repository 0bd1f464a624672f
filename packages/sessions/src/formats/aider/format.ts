import { DROPPED } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { type Transcript, transcript } from "../../transcript.js";
import { timestampOrNull } from "../../values/timestamp.js";
import { handOver, type Output, type Reader, type TextFormat } from "../format.js";
import { commandRun, isLocalCommand } from "./commands.js";
import { type Before, type HistoryLine, historyLine, isHistoryLine } from "./lines.js";

/** One chat between two start lines. */
interface Chat {
  readonly talk: Transcript;
  readonly startedAt: string | null;
  /** Of each commit of an edit how to say that the person took it back. */
  readonly undo: Map<string, () => void>;
  readonly facts: { version: string | null; model: string | null; folder: string | null };
}

const VERSION = /^Aider v(\S+)/;
/** Of its first years only; what else it says of the repository is how many files that has. */
const FOLDER = /^Git working dir: (.+)$/;
const MODEL = /^(?:Main model|Models?): (\S+)/;
const APPLIED = /^Applied edit to /;
const COMMIT = /^Commit ([0-9a-f]{7,}) /;
const REMOVED = /^Removed: ([0-9a-f]{7,}) /;
/** What aider says of an answer itself, ahead of what it tells the model of it. */
const REPORT = /^(?:Applied edit to|Commit [0-9a-f]{7,}|Tokens:|You can use \/undo) /;

function aiderReader(output: Output): Reader<string> {
  const newChat = (startedAt: string | null): Chat => ({
    talk: transcript(output.hold),
    startedAt,
    undo: new Map(),
    facts: { version: null, model: null, folder: null },
  });
  let chat = newChat(null);
  let kind: HistoryLine["kind"] | null = null;
  let held: string[] = [];
  let console: Before["console"] = null;
  let isLong = false;
  /** Whether an edit was applied that is not committed yet: what the person had changed is committed before one. */
  let isApplied = false;
  let isAsked = false;
  /** What was run and printed since the last request or answer: where none was asked, the model answers to it. */
  let ran = "";
  let printed: string[] = [];

  const forget = (): void => {
    chat.talk.dropped.add(DROPPED.console, printed.length);
    printed = [];
    ran = "";
  };
  const addUser = (text: string): void => {
    forget();
    ran = commandRun(text);
    isAsked = !isLocalCommand(text);
    if (isAsked) chat.talk.say("user", text);
    else chat.talk.dropped.add(DROPPED.localCommand);
  };
  const addAnswer = (text: string): void => {
    if (!isAsked) chat.talk.ran(output.fit([ran, ...printed.splice(0)].join("\n").trim()));
    forget();
    isAsked = false;
    chat.talk.answer({ text });
  };

  const flush = (): void => {
    const text = held.join("\n");
    held = [];
    if (kind === "user") addUser(text.trim());
    else if (kind === "answer") {
      const trimmed = text.replace(/^\s*\n/, "").trimEnd();
      if (trimmed !== "") addAnswer(trimmed);
    } else if (kind === "console") {
      const lines = text.split("\n");
      const from = lines.findLastIndex((line) => REPORT.test(line)) + 1;
      printed.push(lines.slice(from).join("\n").trim());
    }
  };

  const finishChat = (): void => {
    flush();
    forget();
    kind = null;
    isAsked = false;
    const { talk, startedAt, facts } = chat;
    const { version, model, folder } = facts;
    handOver(output, talk, { formatVersion: version, agent: "aider", model, facts: factsOf({ folder }), startedAt });
  };

  const note = (line: string): void => {
    chat.facts.version ??= VERSION.exec(line)?.[1] ?? null;
    chat.facts.folder ??= FOLDER.exec(line)?.[1] ?? null;
    chat.facts.model ??= MODEL.exec(line)?.[1] ?? null;
    const commit = COMMIT.exec(line)?.[1];
    if (commit !== undefined && isApplied) chat.undo.set(commit, chat.talk.takingBack());
    if (APPLIED.test(line) || commit !== undefined) isApplied = commit === undefined;
    chat.undo.get(REMOVED.exec(line)?.[1] ?? "")?.();
  };

  return {
    accept: (raw) => {
      const line = historyLine(raw, { console, isLong, inAnswer: kind === "answer" && held.some((text) => text.trim() !== "") });
      isLong = line.kind === "console" && (isLong || !line.ends);
      console = line.kind !== "console" ? null : line.ends ? "ended" : "open";
      if (line.kind === "start") {
        finishChat();
        chat = newChat(timestampOrNull(line.startedAt));
        return;
      }
      if (line.kind === "console") note(line.text);
      // A blank line after a request or console output belongs to neither.
      if (line.kind === "answer" && line.text.trim() === "" && kind !== "answer") {
        flush();
        kind = null;
        return;
      }
      if (line.kind !== kind) flush();
      kind = line.kind;
      held.push(line.text);
    },
    finish: finishChat,
  };
}

/** aider's Markdown history: `####` lines are the person's, `>` lines the console's, all else the model's. */
export const aider: TextFormat = {
  name: "aider",
  sign: "a line `# aider chat started at`",
  recognisesLine: isHistoryLine,
  readText: aiderReader,
};
