import type { Judgement, Session, SessionSummary, Step } from "@imprint/contracts";
import { gatewayTask } from "./formats/gateway/task.js";
import { evidenceOf } from "./outcome/evidence.js";
import { judge } from "./outcome/judge.js";

export interface SessionCounts {
  readonly user_turns: number;
  readonly assistant_turns: number;
  readonly tool_calls: number;
  readonly tool_results: number;
}

/** What a session's file says of where it comes from: each is absent where it says nothing. */
type Origin = Pick<
  SessionSummary,
  "parent" | "folder" | "repository" | "branch" | "provider" | "model" | "started_at" | "ended_at"
>;

export interface SessionDigest extends SessionCounts, Origin {
  /** The first user turn on one line, shortened; of the service's own recordings without what agents add to it. */
  readonly task: string;
  /** Agent turns that a training of the session can learn from. */
  readonly trainable_turns: number;
  /** Absent where nothing shows how it ended. */
  readonly judged?: Judgement;
}

const TASK_LENGTH = 200;

export const NO_TURNS: SessionCounts = { user_turns: 0, assistant_turns: 0, tool_calls: 0, tool_results: 0 };

export const addCounts = (left: SessionCounts, right: SessionCounts): SessionCounts => ({
  user_turns: left.user_turns + right.user_turns,
  assistant_turns: left.assistant_turns + right.assistant_turns,
  tool_calls: left.tool_calls + right.tool_calls,
  tool_results: left.tool_results + right.tool_results,
});

/** What steps hold, in numbers, without what was copied from another session. Answers that no model wrote, and results that answer no call, are not counted. */
export function countTurns(steps: readonly Step[]): SessionCounts {
  const own = steps.filter((step) => step.context_only !== "copied");
  const answers = own.filter((step) => step.source === "agent");
  return {
    user_turns: own.filter((step) => step.source === "user").length,
    assistant_turns: answers.filter((step) => step.context_only !== "synthetic").length,
    tool_calls: answers.reduce((sum, step) => sum + (step.tool_calls?.length ?? 0), 0),
    tool_results: answers.reduce((sum, step) => sum + (step.observations ?? []).filter((one) => one.call_id !== null).length, 0),
  };
}

/**
 * The steps that a training of the session can learn from, as the trainer selects them: what the agent said or called after
 * the task. The system's text is the task where no user speaks.
 */
export function trainableSteps(steps: readonly Step[]): ReadonlySet<Step> {
  const first = (source: Step["source"]): number => steps.findIndex((step) => step.source === source);
  const task = first("user") < 0 ? first("system") : first("user");
  const says = ({ text, tool_calls = [] }: Step): boolean => text.trim() !== "" || tool_calls.length > 0;
  const learned = (step: Step): boolean => step.source === "agent" && step.context_only === undefined && says(step);
  return new Set(task < 0 ? [] : steps.slice(task + 1).filter(learned));
}

/** When the last of its messages was said; undefined where no message has a time. */
function endOf({ steps }: Session): string | undefined {
  const times = steps.map(({ timestamp = "" }) => Date.parse(timestamp)).filter(Number.isFinite);
  const last = times.reduce((latest, time) => Math.max(latest, time), Number.NEGATIVE_INFINITY);
  return Number.isFinite(last) ? new Date(last).toISOString() : undefined;
}

function originOf(session: Session): Origin {
  const { folder, repository, branch, provider, model } = session.source;
  const [started_at, ended_at] = [session.started_at, endOf(session)];
  const told = { parent: session.parent, folder, repository, branch, provider, model, started_at, ended_at };
  return Object.fromEntries(Object.entries(told).filter(([, fact]) => fact !== undefined && fact !== null && fact !== ""));
}

/** What a session holds, in numbers, its task, and where it comes from. */
export function summarize(session: Session): SessionDigest {
  const own = session.source.format === "gateway" ? gatewayTask(session.steps) : null;
  const request = session.steps.find((step) => step.source === "user" && step.context_only !== "copied");
  const task = own ?? request?.text ?? "";
  const line = task
    .slice(0, 4 * TASK_LENGTH)
    .replace(/\s+/g, " ")
    .trim();
  const evidence = evidenceOf(session);
  return {
    ...countTurns(session.steps),
    ...originOf(session),
    ...(evidence.length > 0 && { judged: { outcome: judge(evidence), evidence: [...evidence] } }),
    trainable_turns: trainableSteps(session.steps).size,
    task: line.length > TASK_LENGTH ? `${line.slice(0, TASK_LENGTH - 1)}…` : line,
  };
}
