import type { ChatRequest } from "@imprint/client";
import { useCallback, useEffect, useRef, useState } from "react";
import { api } from "../api.js";

export interface Answer {
  readonly text: string;
  readonly state: "idle" | "waiting" | "writing" | "done";
  readonly error: unknown;
}

const IDLE: Answer = { text: "", state: "idle", error: null };

/** One model's answer as it is written. A new question, or leaving the page, stops the one before. */
export function useAnswer(): Answer & { readonly ask: (request: ChatRequest) => Promise<void>; readonly stop: () => void } {
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
