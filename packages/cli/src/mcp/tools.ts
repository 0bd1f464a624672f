import type { Imprint } from "@imprint/client";
import { AdapterId, JobId, type Session, SessionId, type SessionSummary, Strict, TrainLoraRequest } from "@imprint/contracts";
import Type, { type Static, type TSchema } from "typebox";

/** What an agent may call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: TSchema;
  /** False for what starts work. */
  readonly readOnly: boolean;
  readonly call: (client: Imprint, given: never) => Promise<unknown>;
}

/** Characters of a session that one answer holds: about 6,000 tokens. */
const PAGE = 24_000;
/** Characters of one result within it. */
const RESULT = 1_500;

const tool = <S extends TSchema>(
  about: Pick<Tool, "name" | "description" | "readOnly"> & { readonly schema: S },
  call: (client: Imprint, given: Static<S>) => Promise<unknown>,
): Tool => ({ ...about, call });

const cut = (text: string): string =>
  text.length <= RESULT ? text : `${text.slice(0, RESULT)} [... ${text.length - RESULT} characters more]`;

const shortOf = ({ session_id, task, format, repository, branch, outcome, started_at, assistant_turns }: SessionSummary) => ({
  ...{ session_id, task, agent: format, repository, branch, outcome, started_at, turns: assistant_turns },
});

/** A session's steps as lines, as many from `first` on as an answer holds. */
function pageOf({ session_id, steps }: Session, first: number) {
  const texts: string[] = [];
  let length = 0;
  for (const { source, text, tool_calls = [], observations = [] } of steps.slice(first)) {
    const calls = tool_calls.map(({ name, arguments: given }) => `call ${name} ${cut(given)}`);
    const results = observations.map(({ content }) => `result ${cut(content)}`);
    const step = [`${source}: ${cut(text)}`, ...calls, ...results].join("\n");
    length += step.length;
    if (texts.length > 0 && length > PAGE) break;
    texts.push(step);
  }
  const next = first + texts.length;
  return { session_id, steps: texts, ...(next < steps.length && { next_step: next, of: steps.length }) };
}

const { profile, within, base_model } = TrainLoraRequest.properties;
const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: "At most so many (default: 10)" }));
const ids = Type.Array(SessionId, { minItems: 1, description: "Ids of stored sessions" });

export const TOOLS: readonly Tool[] = [
  tool(
    {
      name: "search_sessions",
      description:
        "Find recorded coding sessions, the newest first: how was something done before, in this repository or another?",
      readOnly: true,
      schema: Strict({
        words: Type.Optional(
          Type.String({ description: "Words that all stand in its id, repository, folder, branch, model, outcome or task" }),
        ),
        limit,
      }),
    },
    async (client, { words, limit: most = 10 }) => {
      const { sessions } = await client.sessions.list({ limit: most, ...(words && { search: words }) });
      return { sessions: sessions.map(shortOf) };
    },
  ),
  tool(
    {
      name: "read_session",
      description: "Read what was said, called and answered in a session, secrets redacted; long ones in pages.",
      readOnly: true,
      schema: Strict({
        session_id: SessionId,
        first_step: Type.Optional(Type.Integer({ minimum: 0, description: "The next_step of the page before" })),
      }),
    },
    async (client, { session_id, first_step = 0 }) => pageOf(await client.sessions.content(session_id), first_step),
  ),
  tool(
    {
      name: "list_adapters",
      description: "List the adapters, the newest first, with what was proved of them and whether they help.",
      readOnly: true,
      schema: Strict({ limit }),
    },
    async (client, { limit: most = 10 }) => {
      const { adapters } = await client.adapters.list({ limit: most });
      return {
        adapters: adapters.map(({ adapter_id, base_model, session_ids, verdict, evaluation, tasks, created_at }) => ({
          ...{ adapter_id, base_model, sessions: session_ids.length, verdict, evaluation, tasks, created_at },
        })),
      };
    },
  ),
  tool(
    {
      name: "show_job",
      description: "Say how far a training or evaluation is, or how it ended.",
      readOnly: true,
      schema: Strict({ job_id: JobId }),
    },
    async (client, { job_id }) => {
      const { kind, status, progress, adapter_id, error } = await client.jobs.details(job_id);
      return { job_id, kind, status, progress, adapter_id, error };
    },
  ),
  tool(
    {
      name: "train",
      description: "Start a training of an adapter on stored sessions. It takes minutes to hours: show_job tells how far it is.",
      readOnly: false,
      schema: Strict({ session_ids: ids, profile, within, base_model }),
    },
    (client, request) => client.train.lora(request),
  ),
  tool(
    {
      name: "evaluate",
      description: "Measure whether an adapter helps on sessions that it was not trained on. It takes minutes.",
      readOnly: false,
      schema: Strict({ adapter_id: AdapterId, session_ids: Type.Optional(ids) }),
    },
    (client, { adapter_id, ...request }) => client.adapters.evaluate(adapter_id, request),
  ),
];
