import { draft } from "../../draft.js";
import { DROPPED } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { type Transcript, transcript } from "../../transcript.js";
import { timestampOrNull } from "../../values/timestamp.js";
import type { Output, Reader, TextFormat } from "../format.js";
import { isLocalCommand } from "./commands.js";
import { type Before, type HistoryLine, historyLine, isHistoryLine } from "./lines.js";

/** One chat between two start lines. */
interface Chat {
  readonly talk: Transcript;
  readonly startedAt: string | null;
  readonly facts: { version: string | null; model: string | null; folder: string | null };
}

const VERSION = /^Aider v(\S+)/;
/** Of its first years only; what else it says of the repository is how many files that has. */
const FOLDER = /^Git working dir: (.+)$/;
const MODEL = /^(?:Main model|Models?): (\S+)/;

function aiderReader(output: Output): Reader<string> {
  const newChat = (startedAt: string | null): Chat => ({
    talk: transcript(output.hold),
    startedAt,
    facts: { version: null, model: null, folder: null },
  });
  let chat = newChat(null);
  let kind: HistoryLine["kind"] | null = null;
  let held: string[] = [];
  let console: Before["console"] = null;
  let isLong = false;

  const addUser = (text: string): void => {
    if (isLocalCommand(text)) chat.talk.dropped.add(DROPPED.localCommand);
    else chat.talk.say("user", text);
  };

  const flush = (): void => {
    const text = held.join("\n");
    held = [];
    if (kind === "user") addUser(text.trim());
    else if (kind === "answer") {
      const trimmed = text.replace(/^\s*\n/, "").trimEnd();
      if (trimmed !== "") chat.talk.answer({ text: trimmed });
    } else if (kind === "console") chat.talk.dropped.add(DROPPED.console);
  };

  const finishChat = (): void => {
    flush();
    kind = null;
    const { talk, startedAt, facts } = chat;
    const steps = talk.steps();
    const made = {
      formatVersion: facts.version,
      agent: "aider",
      model: facts.model,
      facts: factsOf({ folder: facts.folder }),
      startedAt,
      steps,
      dropped: talk.dropped.entries(),
    };
    if (steps.length > 0) output.conversation(draft(made));
  };

  const note = (line: string): void => {
    chat.facts.version ??= VERSION.exec(line)?.[1] ?? null;
    chat.facts.folder ??= FOLDER.exec(line)?.[1] ?? null;
    chat.facts.model ??= MODEL.exec(line)?.[1] ?? null;
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
