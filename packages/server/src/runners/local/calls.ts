import type { WorkerEvent, WorkerRequest } from "@imprint/contracts";
import type { Clock } from "../../common/clock.js";
import { ImprintError } from "../../common/error.js";
import type { Call, CallResult, ChatEvent } from "../runner.js";
import { ProtocolFault } from "./decode-event.js";

type Answer = Extract<WorkerEvent, { type: "answer" | "call_failed" }>;
type Told = Extract<WorkerEvent, { type: "prompt" | "token" }>;

/** A field that no other call's result has. */
const MARKS = { preview: "windows", render: "end_tokens", chat: "finish_reason" } as const;

export interface Calls {
  /** When `signal` aborts, a chat is cancelled; the promise still settles with what the worker says to that. */
  ask(call: Call, signal?: AbortSignal, onEvent?: (event: ChatEvent) => void): Promise<CallResult>;
  /** Answers whether somebody waited for it. Throws ProtocolFault when nobody asked for that. */
  tell(event: Told): boolean;
  /** Answers whether somebody waited for it. Throws ProtocolFault when it answers another question. */
  receive(answer: Answer): boolean;
  failAll(error: ImprintError): void;
  pending(): number;
}

interface Waiting {
  readonly call: Call;
  readonly onEvent: ((event: ChatEvent) => void) | undefined;
  readonly resolve: (result: CallResult) => void;
  readonly reject: (error: ImprintError) => void;
}

interface CallsOptions {
  readonly send: (request: WorkerRequest) => void;
  readonly clock: Clock;
  readonly cancelGraceMs: number;
  /** A cancelled chat was not answered within the grace period. */
  readonly onIgnored: () => void;
}

/** Questions to a worker and who waits for their answers. */
export function createCalls({ send, clock, cancelGraceMs, onIgnored }: CallsOptions): Calls {
  const waiting = new Map<string, Waiting>();
  let count = 0;
  return {
    async ask(call, signal, onEvent) {
      count += 1;
      const call_id = String(count);
      let disarm = (): void => {};
      const cancel = (): void => {
        send({ type: "cancel_call", call_id });
        disarm = clock.after(cancelGraceMs, onIgnored);
      };
      try {
        return await new Promise((resolve, reject) => {
          waiting.set(call_id, { call, onEvent, resolve, reject });
          send({ ...call, call_id });
          if (call.type === "chat") signal?.addEventListener("abort", cancel, { once: true });
        });
      } finally {
        signal?.removeEventListener("abort", cancel);
        disarm();
      }
    },
    tell({ call_id, ...event }) {
      const caller = waiting.get(call_id);
      if (!caller) return false;
      if (caller.call.type !== "chat" || (event.type === "token" && !caller.call.spec.stream))
        throw new ProtocolFault("streamed an answer that is no stream");
      caller.onEvent?.(event);
      return true;
    },
    receive(answer) {
      const caller = waiting.get(answer.call_id);
      if (!caller) return false;
      if (answer.type === "call_failed") caller.reject(ImprintError.from(answer.error));
      else if (!(MARKS[caller.call.type] in answer.result)) {
        throw new ProtocolFault(`answered a ${caller.call.type} with something else`);
      } else caller.resolve(answer.result);
      waiting.delete(answer.call_id);
      return true;
    },
    failAll(error) {
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    },
    pending: () => waiting.size,
  };
}
