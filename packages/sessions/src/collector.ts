import { type Outcome, SESSION_SCHEMA_VERSION, type Session, type SessionFormat } from "@imprint/contracts";
import type { Draft } from "./draft.js";
import type { Facts } from "./facts.js";
import { conversationId, fileId, partId } from "./ids.js";
import type { ImportedFile } from "./imported-file.js";
import { type Redacted, redactDraft } from "./redact/redact-session.js";
import { redactor } from "./redact/redactor.js";
import { addCounts, countTurns, NO_TURNS, type SessionCounts } from "./summarize.js";
import { tally } from "./tally.js";

interface End {
  readonly format: SessionFormat;
  readonly sha256: string;
  readonly badLines: number;
  readonly warnings: readonly string[];
}

/** Makes sessions of drafts: ids, hashes, redaction, totals. */
export interface Collector {
  take(drafts: readonly Draft[], format: SessionFormat | undefined): Promise<void>;
  finish(end: End): Promise<ImportedFile>;
}

interface Options {
  readonly outcome: Outcome | undefined;
  readonly onSession: ((session: Session) => void | Promise<void>) | undefined;
  /** The content's hash where it is known before the end, so that sessions can be handed over as they come. */
  readonly sha256: string | null;
  /** Hears how much text is still held after sessions were handed over. */
  readonly settle: (length: number) => void;
  /** Hears how many conversations there are so far, before they are worked on; throws when they are too many. */
  readonly check: (count: number) => void;
}

interface Place {
  readonly format: SessionFormat;
  readonly sha256: string;
  readonly badLines: number;
}

/** What a recording does not say is left out. */
const known = (facts: Facts): Partial<Record<keyof Facts, string>> =>
  Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== null));

function sessionOf({ draft, redactions }: Redacted, id: string, place: Place, outcome: Outcome | undefined): Session {
  const { format, sha256, badLines } = place;
  const { formatVersion: format_version, agent, model } = draft;
  return {
    schema_version: SESSION_SCHEMA_VERSION,
    session_id: id,
    source: { format, format_version, agent, model, ...known(draft.facts), sha256 },
    task_type: draft.taskType,
    outcome: outcome ?? draft.outcome,
    outcome_signal: draft.outcomeSignal,
    started_at: draft.startedAt,
    ...(draft.parent !== null && { parent: draft.parent }),
    tools: [...draft.tools],
    steps: [...draft.steps],
    bad_lines: badLines,
    dropped: draft.dropped.map(([reason, count]) => ({ reason, count })),
    redactions: redactions.map(([kind, count]) => ({ kind, count })),
  };
}

const holdsMessages = (made: Draft): boolean => made.steps.some((step) => step.source !== "system");

const textLength = (made: Draft): number =>
  made.steps.reduce((sum, step) => {
    const calls = (step.tool_calls ?? []).reduce((all, call) => all + call.arguments.length, 0);
    const results = (step.observations ?? []).reduce((all, one) => all + one.content.length, 0);
    return sum + step.text.length + (step.reasoning?.length ?? 0) + calls + results;
  }, 0);

export function collector({ outcome, onSession, sha256, settle, check }: Options): Collector {
  const secrets = redactor();
  const sessions: Session[] = [];
  const dropped = tally();
  const redactions = tally();
  const outcomes = new Set<Outcome>();
  const parts = new Set<string>();
  let counts: SessionCounts = NO_TURNS;
  let base = "";
  let version: string | null = null;
  let count = 0;
  let waiting: Redacted[] = [];

  const hand = async (made: Redacted, place: Place, isOnly: boolean): Promise<void> => {
    const { id: own, part } = made.draft;
    base ||= fileId(isOnly ? own : null, place.format, place.sha256);
    const named = isOnly && own !== null ? null : partId(base, part);
    count++;
    const isFree = named !== null && !parts.has(named);
    if (named !== null) parts.add(named);
    if (isOnly && isFree) base = named;
    const id = isFree ? named : isOnly ? base : conversationId(base, count);
    const session = sessionOf(made, id, place, outcome);
    version ??= session.source.format_version;
    outcomes.add(session.outcome);
    for (const one of session.dropped) dropped.add(one.reason, one.count);
    for (const one of session.redactions) redactions.add(one.kind, one.count);
    if (onSession === undefined) return void sessions.push(session);
    await onSession(session);
  };

  return {
    take: async (drafts, format) => {
      const found = drafts.filter(holdsMessages);
      check(count + waiting.length + found.length);
      // Read at once, while the text is still in the processor's cache.
      for (const made of found) {
        counts = addCounts(counts, countTurns(made.steps));
        waiting.push(redactDraft(made, secrets));
      }
      // One conversation is held back: whether it is the only one decides its id.
      if (sha256 === null || format === undefined || waiting.length < 2) return;
      const ready = waiting.splice(0, waiting.length - 1);
      for (const made of ready) await hand(made, { format, sha256, badLines: 0 }, false);
      if (onSession !== undefined) settle(waiting.reduce((sum, made) => sum + textLength(made.draft), 0));
    },
    finish: async ({ format, sha256: hash, badLines, warnings }) => {
      const isOnly = count === 0 && waiting.length === 1;
      const rest = waiting;
      waiting = [];
      for (const made of rest) await hand(made, { format, sha256: hash, badLines: isOnly ? badLines : 0 }, isOnly);
      const [common] = outcomes;
      return {
        format,
        format_version: version,
        sessions,
        session_count: count,
        file_id: base,
        outcome: outcomes.size === 1 && common !== undefined ? common : "unknown",
        counts,
        bad_lines: badLines,
        dropped: dropped.entries().map(([reason, total]) => ({ reason, count: total })),
        redactions: redactions.entries().map(([kind, total]) => ({ kind, count: total })),
        warnings,
      };
    },
  };
}
