import type { SessionFormat } from "@imprint/contracts";
import { agentDataProtocol } from "./agent-data-protocol/format.js";
import { aider } from "./aider/format.js";
import { atif } from "./atif/format.js";
import { chatJsonl } from "./chat-jsonl/format.js";
import { claudeCode } from "./claude-code/format.js";
import { claudeStream } from "./claude-stream/format.js";
import { cline } from "./cline/format.js";
import { codex } from "./codex/format.js";
import { codexExec } from "./codex-exec/format.js";
import { continueSession } from "./continue/format.js";
import { copilotCli } from "./copilot-cli/format.js";
import { cursor } from "./cursor/format.js";
import type { RecordFormat, TextFormat } from "./format.js";
import { gateway } from "./gateway/format.js";
import { geminiCli } from "./gemini-cli/format.js";
import { geminiStream } from "./gemini-stream/format.js";
import { goose } from "./goose/format.js";
import { miniSweAgent } from "./mini-swe-agent/format.js";
import { native } from "./native/format.js";
import { opencode } from "./opencode/format.js";
import { openHandsV0 } from "./openhands-v0/format.js";
import { openHandsV1 } from "./openhands-v1/format.js";
import { pi } from "./pi/format.js";
import { qwenCode } from "./qwen-code/format.js";
import { shareGpt } from "./sharegpt/format.js";
import { sts } from "./sts/format.js";
import { sweAgent } from "./swe-agent/format.js";
import { vscodeChat } from "./vscode-chat/format.js";

/** Formats of JSON records, in the order in which they are asked: the more particular sign first. */
export const RECORD_FORMATS: readonly RecordFormat[] = [
  gateway,
  native,
  qwenCode,
  claudeStream,
  claudeCode,
  codex,
  codexExec,
  geminiCli,
  geminiStream,
  cline,
  opencode,
  goose,
  continueSession,
  copilotCli,
  vscodeChat,
  cursor,
  openHandsV1,
  openHandsV0,
  atif,
  agentDataProtocol,
  miniSweAgent,
  sweAgent,
  pi,
  sts,
  shareGpt,
  chatJsonl,
];

export const TEXT_FORMATS: readonly TextFormat[] = [aider];

export const findRecordFormat = (name: SessionFormat): RecordFormat | undefined =>
  RECORD_FORMATS.find((format) => format.name === name);

export const findTextFormat = (name: SessionFormat): TextFormat | undefined =>
  TEXT_FORMATS.find((format) => format.name === name);
