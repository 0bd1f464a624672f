import { type Static, Type } from "typebox";
import { SessionId, Sha256, Timestamp } from "./ids.js";
import { OneOf, Strict } from "./object.js";

/** Formats an importer exists for. */
export const SESSION_FORMATS = [
  "native",
  "claude-code",
  "claude-stream",
  "codex",
  "codex-exec",
  "gemini-cli",
  "gemini-stream",
  "qwen-code",
  "cline",
  "opencode",
  "goose",
  "continue",
  "copilot-cli",
  "vscode-chat",
  "cursor",
  "swe-agent",
  "mini-swe-agent",
  "openhands-v0",
  "openhands-v1",
  "atif",
  "agent-data-protocol",
  "chat-jsonl",
  "sharegpt",
  "sts",
  "pi",
  "aider",
  "gateway",
] as const;
export const SessionFormat = OneOf(SESSION_FORMATS);
export type SessionFormat = (typeof SESSION_FORMATS)[number];

/** A tool the model could call, as chat templates take it. `parameters` is a JSON Schema. */
export const ToolDefinition = Strict({
  name: Type.String({ minLength: 1 }),
  description: Type.Optional(Type.String()),
  parameters: Type.Optional(Type.Unknown()),
});
export type ToolDefinition = Static<typeof ToolDefinition>;

/** One call the model made. `arguments` is the text the model wrote: JSON for most tools, free text for some (codex `apply_patch`). */
export const ToolCall = Strict({ id: Type.String(), name: Type.String(), arguments: Type.String() });
export type ToolCall = Static<typeof ToolCall>;

/** What came back from the environment. `call_id` is null when the step made no call (its text was the action). */
export const Observation = Strict({
  call_id: Type.Union([Type.String(), Type.Null()]),
  content: Type.String(),
  is_error: Type.Optional(Type.Boolean()),
});
export type Observation = Static<typeof Observation>;

/** Why an agent step is context and never supervised (training-data rule 1). `copied` stands on requests too: they are another session's. */
export const CONTEXT_ONLY_REASONS = ["failed", "weight_zero", "aborted", "refused", "edited", "synthetic", "copied"] as const;

/**
 * One step: who spoke, what was said, which tools were called and what they answered (after ATIF).
 * `observations` and `tool_calls` stand only on agent steps. An orphan result stands on the nearest earlier agent step,
 * or on an agent step of its own that is `context_only: "synthetic"`.
 */
export const Step = Strict({
  source: Type.Union([Type.Literal("system"), Type.Literal("user"), Type.Literal("agent")]),
  text: Type.String(),
  reasoning: Type.Optional(Type.String()),
  tool_calls: Type.Optional(Type.Array(ToolCall)),
  observations: Type.Optional(Type.Array(Observation)),
  context_only: Type.Optional(OneOf(CONTEXT_ONLY_REASONS)),
  timestamp: Type.Optional(Timestamp),
});
export type Step = Static<typeof Step>;

export const Outcome = Type.Union([Type.Literal("success"), Type.Literal("failure"), Type.Literal("unknown")]);
export type Outcome = Static<typeof Outcome>;

/** What a session shows of how it ended. `answered`: with an answer after edits; `replied`: after other calls; `lost`: its commits are in no branch of its repository any more. */
export const EVIDENCE_KINDS = [
  "thanks",
  "complaint",
  "complaint_answered",
  "interrupted",
  "cut_off",
  "call_failed",
  "answered",
  "replied",
  "tests_passed",
  "tests_failed",
  "check_passed",
  "check_failed",
  "commit",
  "reverted",
  "lost",
] as const;
export const Evidence = Strict({
  kind: OneOf(EVIDENCE_KINDS),
  /** In words, with what was run or said. */
  what: Type.String(),
  /** The hash of a commit. */
  commit: Type.Optional(Type.String()),
});
export type Evidence = Static<typeof Evidence>;

/** How a session ended by what it shows, where nobody says it. */
export const Judgement = Strict({ outcome: Outcome, evidence: Type.Array(Evidence) });
export type Judgement = Static<typeof Judgement>;

/** The session that another one came from, by its tool's own id. */
export const Parent = Strict({ session_id: Type.String(), kinship: OneOf(["fork", "sub-agent"]) });
export type Parent = Static<typeof Parent>;

export const Dropped = Strict({ reason: Type.String(), count: Type.Integer({ minimum: 1 }) });
export const Redaction = Strict({ kind: Type.String(), count: Type.Integer({ minimum: 1 }) });
export type Redaction = Static<typeof Redaction>;

/** The version of the canonical session that this code writes. */
export const SESSION_SCHEMA_VERSION = 1;

const Fact = Type.Optional(Type.String({ minLength: 1 }));

/** Where a session was recorded, and who served its model. Each is absent where the recording does not say. */
export const SessionFacts = {
  /** The folder that the agent was started in. */
  folder: Fact,
  /** The repository's name: that of its remote where the recording has one, else the folder's. */
  repository: Fact,
  branch: Fact,
  /** As the agent names it. */
  provider: Fact,
};

/** A recorded session of any agent, in the one shape that is stored and trained from. */
export const Session = Strict({
  schema_version: Type.Literal(SESSION_SCHEMA_VERSION),
  session_id: SessionId,
  source: Strict({
    format: SessionFormat,
    format_version: Type.Union([Type.String(), Type.Null()]),
    agent: Type.Union([Type.String(), Type.Null()]),
    model: Type.Union([Type.String(), Type.Null()]),
    ...SessionFacts,
    sha256: Sha256,
  }),
  task_type: Type.Union([Type.String(), Type.Null()]),
  outcome: Outcome,
  /** What the file itself says about its end, verbatim. */
  outcome_signal: Type.Union([Type.String(), Type.Null()]),
  started_at: Type.Union([Timestamp, Type.Null()]),
  /** Absent where the file names none. */
  parent: Type.Optional(Parent),
  tools: Type.Array(ToolDefinition),
  steps: Type.Array(Step),
  bad_lines: Type.Integer({ minimum: 0 }),
  dropped: Type.Array(Dropped),
  redactions: Type.Array(Redaction),
});
export type Session = Static<typeof Session>;

/** What a session holds, in numbers. */
export const SessionCounts = {
  user_turns: Type.Integer({ minimum: 0 }),
  assistant_turns: Type.Integer({ minimum: 0 }),
  tool_calls: Type.Integer({ minimum: 0 }),
  tool_results: Type.Integer({ minimum: 0 }),
};

/** A session as lists show it and as `POST /sessions` answers. */
export const SessionSummary = Strict({
  session_id: SessionId,
  format: SessionFormat,
  format_version: Type.Union([Type.String(), Type.Null()]),
  /** What its file or a person says. */
  outcome: Outcome,
  /** Absent in lists, of sessions that an earlier version stored. */
  judged: Type.Optional(Judgement),
  /** The first user turn, shortened. */
  task: Type.String(),
  parent: Type.Optional(Parent),
  ...SessionFacts,
  model: Fact,
  /** When its first message was said, and its last. */
  started_at: Type.Optional(Timestamp),
  ended_at: Type.Optional(Timestamp),
  own: Type.Optional(
    Type.Boolean({
      description:
        "Whether an adapter or base model of this service wrote it: no project trains on it and no evaluation chooses it; a request may name it",
    }),
  ),
  ...SessionCounts,
  /** Absent in lists, of sessions that an earlier version stored. */
  trainable_turns: Type.Optional(
    Type.Integer({ minimum: 0, description: "Agent turns that a training of the session can learn from" }),
  ),
  bad_lines: Type.Integer({ minimum: 0 }),
  dropped: Type.Array(Dropped),
  redactions: Type.Array(Redaction),
  sha256: Sha256,
  created_at: Timestamp,
});
export type SessionSummary = Static<typeof SessionSummary>;

/** A page of `GET /sessions`. */
export const SessionList = Strict({ sessions: Type.Array(SessionSummary), next: Type.Union([Type.String(), Type.Null()]) });
export type SessionList = Static<typeof SessionList>;

/** `POST /sessions`: a file may hold many conversations, so the answer names them all; the first is repeated at the top. */
export const ImportResult = Strict({
  ...SessionSummary.properties,
  warnings: Type.Array(Type.String()),
  sessions: Type.Array(SessionSummary),
});
export type ImportResult = Static<typeof ImportResult>;

/** How a session ended, in a word: what its file or a person says goes before what it shows. */
export const endingOf = ({ outcome, judged }: Pick<SessionSummary, "outcome" | "judged">): string =>
  outcome === "unknown" && judged !== undefined && judged.outcome !== "unknown" ? `${judged.outcome} (judged)` : outcome;
