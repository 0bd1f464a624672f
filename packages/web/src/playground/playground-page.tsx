import type { ChatRequest } from "@imprint/client";
import { type Adapter, conditionOf } from "@imprint/contracts";
import { type FormEvent, useCallback, useEffect, useRef, useState } from "react";
import { api } from "../api.js";
import { useLoad } from "../load/use-load.js";
import { hrefOf } from "../router/route.js";
import { goTo } from "../router/use-route.js";
import { plain } from "../text/plain.js";
import { Card } from "../ui/card.js";
import { Page } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { differing } from "./differing.js";

interface Answer {
  readonly text: string;
  readonly state: "idle" | "waiting" | "writing" | "done";
  readonly error: unknown;
}

const IDLE: Answer = { text: "", state: "idle", error: null };

/** One model's answer as it is written. A new question, or leaving the page, stops the one before. */
function useAnswer(): Answer & { readonly ask: (request: ChatRequest) => Promise<void>; readonly stop: () => void } {
  const [answer, setAnswer] = useState(IDLE);
  const running = useRef<AbortController | null>(null);
  const stop = useCallback(() => {
    running.current?.abort();
    setAnswer((before) => (before.state === "idle" ? before : { ...before, state: "done" }));
  }, []);
  useEffect(() => () => running.current?.abort(), []);
  const ask = useCallback(async (request: ChatRequest) => {
    running.current?.abort();
    const turn = new AbortController();
    running.current = turn;
    const update = (change: (before: Answer) => Answer): void => {
      if (!turn.signal.aborted) setAnswer(change);
    };
    update(() => ({ text: "", state: "waiting", error: null }));
    try {
      const chunks = await api.chat.completions.create({ ...request, stream: true }, { signal: turn.signal });
      for await (const { choices } of chunks) {
        const piece = choices[0]?.delta.content ?? "";
        if (piece !== "") update((before) => ({ ...before, text: before.text + piece, state: "writing" }));
      }
      update((before) => ({ ...before, state: "done" }));
    } catch (error) {
      update((before) => ({ ...before, state: "done", error }));
    }
  }, []);
  return { ...answer, ask, stop };
}

const SHOWN = 1000;
const STATES = {
  idle: "Asks nothing yet.",
  waiting: "Waiting for the trainer; a running job goes first…",
  writing: "Writing…",
  done: "",
};

interface AnswerCardProps {
  readonly title: string;
  readonly answer: Answer;
  /** The other answer: what is not in it is marked once both are there. */
  readonly other: Answer;
}

function AnswerCard({ title, answer, other }: AnswerCardProps) {
  const areBoth = answer.state === "done" && other.state === "done";
  const parts = differing(plain(answer.text), areBoth ? plain(other.text) : "");
  return (
    <Card title={title}>
      <div className="answer" aria-busy={answer.state === "waiting" || answer.state === "writing"}>
        {parts.map(({ text, isOwn }, at) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name, and never move.
          isOwn ? <mark key={at}>{text}</mark> : <span key={at}>{text}</span>,
        )}
      </div>
      <p className="muted" role="status">
        {STATES[answer.state]}
      </p>
      <Problem error={answer.error} />
    </Card>
  );
}

/** What the address says of the question. */
type Asked = Readonly<Partial<Record<"prompt" | "tokens" | "temperature", string>>>;

function Ask({ adapter, asked }: { readonly adapter: Adapter; readonly asked: Asked }) {
  const base = useAnswer();
  const tuned = useAnswer();
  const session = useLoad(adapter.session_id, (signal) => api.sessions.get(adapter.session_id, { signal }));
  const [typed, setPrompt] = useState(asked.prompt);
  /** The task that the adapter learned, until someone is about to type another: no text arrives under their hands. */
  const prompt = typed ?? session.value?.task ?? "";
  const [maxTokens, setMaxTokens] = useState(asked.tokens ?? "160");
  const [temperature, setTemperature] = useState(asked.temperature ?? "0");
  const isBusy = [base, tuned].some(({ state }) => state === "waiting" || state === "writing");
  const ask = (event: FormEvent): void => {
    event.preventDefault();
    const rest: Omit<ChatRequest, "model"> = {
      messages: [{ role: "user", content: prompt }],
      max_tokens: Number(maxTokens),
      temperature: Number(temperature),
    };
    const address = { adapter: adapter.adapter_id, prompt, tokens: maxTokens, temperature };
    window.history.replaceState(null, "", hrefOf(["playground"], address));
    void base.ask({ model: adapter.base_model, ...rest });
    void tuned.ask({ model: adapter.adapter_id, ...rest });
  };
  const stop = (): void => {
    base.stop();
    tuned.stop();
  };
  return (
    <>
      <form className="card" onSubmit={ask}>
        <label className="stacked">
          Prompt
          <textarea
            required
            rows={5}
            value={prompt}
            onFocus={() => setPrompt(prompt)}
            onChange={(event) => setPrompt(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !isBusy) event.currentTarget.form?.requestSubmit();
            }}
          />
        </label>
        <div className="fields">
          <label className="stacked">
            Tokens at most
            <input
              type="number"
              required
              min={1}
              max={4096}
              step={1}
              value={maxTokens}
              onChange={(event) => setMaxTokens(event.target.value)}
            />
          </label>
          <label className="stacked">
            Temperature
            <input
              type="number"
              required
              min={0}
              max={2}
              step="any"
              value={temperature}
              onChange={(event) => setTemperature(event.target.value)}
            />
          </label>
        </div>
        <div className="actions">
          <button type="submit" className="primary" disabled={isBusy}>
            Ask both
          </button>
          <span className="muted">or Ctrl+Enter</span>
          {isBusy && (
            <button type="button" onClick={stop}>
              Stop
            </button>
          )}
        </div>
      </form>
      <div className="columns">
        <AnswerCard title={adapter.base_model} answer={base} other={tuned} />
        <AnswerCard title={adapter.adapter_id} answer={tuned} other={base} />
      </div>
    </>
  );
}

const loadNamed = (adapterId: string | undefined, signal: AbortSignal): Promise<Adapter | null> =>
  adapterId === undefined ? Promise.resolve(null) : api.adapters.get(adapterId, { signal });

/** Its id, and what is wrong with it. */
const labelOf = (adapter: Adapter): string => {
  const condition = conditionOf(adapter);
  return condition === "ok" ? adapter.adapter_id : `${adapter.adapter_id} (${condition})`;
};

/** The same question to the base model and to an adapter on it, side by side. */
export function PlaygroundPage({ adapterId, asked }: { readonly adapterId: string | undefined; readonly asked: Asked }) {
  const { value, error } = useLoad("adapters", (signal) => api.adapters.list({ limit: SHOWN }, { signal }));
  const adapters = value?.adapters ?? [];
  const first = adapters.find((adapter) => conditionOf(adapter) === "ok") ?? adapters[0];
  const listed = adapterId === undefined ? first : adapters.find(({ adapter_id }) => adapter_id === adapterId);
  const unlisted = value && !listed ? adapterId : undefined;
  const named = useLoad(`adapter ${unlisted}`, (signal) => loadNamed(unlisted, signal));
  const chosen = listed ?? named.value;
  return (
    <Page title="Playground">
      <Problem error={error ?? named.error} />
      {value && adapters.length === 0 && (
        <p className="empty">No adapters yet: train one, then try it here beside its base model.</p>
      )}
      {adapters.length > 0 && (
        <label className="inline">
          Adapter
          <select
            value={chosen?.adapter_id ?? ""}
            onChange={(event) => goTo(hrefOf(["playground"], { adapter: event.target.value }))}
          >
            {!chosen && <option value="">choose one</option>}
            {[...(named.value ? [named.value] : []), ...adapters].map((adapter) => (
              <option key={adapter.adapter_id} value={adapter.adapter_id}>
                {labelOf(adapter)}
              </option>
            ))}
          </select>
        </label>
      )}
      {chosen && <Ask key={chosen.adapter_id} adapter={chosen} asked={asked} />}
    </Page>
  );
}
