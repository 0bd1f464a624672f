import type { ChatResult, Preview, WorkerEvent, WorkerRequest } from "@imprint/contracts";
import { JobError } from "../../jobs/job-error.js";
import type { ChatCall, PreviewCall } from "../executor.js";
import { ProtocolFault } from "./decode-event.js";

type Answer = Extract<WorkerEvent, { type: "answer" | "call_failed" }>;

export interface Calls {
  ask(call: PreviewCall | ChatCall): Promise<Preview | ChatResult>;
  /** Answers whether somebody waited for it. Throws ProtocolFault when it answers another question. */
  receive(answer: Answer): boolean;
  failAll(error: JobError): void;
  pending(): number;
}

interface Waiting {
  readonly type: "preview" | "chat";
  readonly resolve: (result: Preview | ChatResult) => void;
  readonly reject: (error: JobError) => void;
}

/** Questions to a worker and who waits for their answers. */
export function createCalls({ send }: { readonly send: (request: WorkerRequest) => void }): Calls {
  const waiting = new Map<string, Waiting>();
  let count = 0;
  return {
    ask(call) {
      count += 1;
      const call_id = String(count);
      return new Promise((resolve, reject) => {
        waiting.set(call_id, { type: call.type, resolve, reject });
        send({ ...call, call_id });
      });
    },
    receive(answer) {
      const caller = waiting.get(answer.call_id);
      if (!caller) return false;
      if (answer.type === "call_failed") caller.reject(JobError.from(answer.error));
      else if ("windows" in answer.result !== (caller.type === "preview")) {
        throw new ProtocolFault(`answered a ${caller.type} with something else`);
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
