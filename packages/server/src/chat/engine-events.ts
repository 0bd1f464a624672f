import type { ChatResult } from "@imprint/contracts";
import type { Clock } from "../common/clock.js";
import { defer } from "../common/promises.js";
import type { ChatEvent } from "../runners/runner.js";

export type EngineEvent = ChatEvent | { readonly type: "idle" };

/**
 * What an engine tells of a chat, then its result; `idle` when it says nothing for as long as `idleMs` says. A reader that is slow
 * gets longer pieces of text and never holds the engine up: what waits here is at most the whole answer. Throws what the call
 * rejects with, once what was told before was read.
 */
export async function* engineEvents(
  call: (onEvent: (event: ChatEvent) => void) => Promise<ChatResult>,
  { clock, idleMs }: { readonly clock: Pick<Clock, "after">; readonly idleMs: () => number },
): AsyncGenerator<EngineEvent, ChatResult> {
  let told: ChatEvent[] = [];
  let over = false;
  let wake = defer<void>();
  const result = call((event) => {
    const last = told.at(-1);
    if (event.type === "token" && last?.type === "token") told[told.length - 1] = { ...event, text: last.text + event.text };
    else told.push(event);
    wake.resolve();
  }).finally(() => {
    over = true;
    wake.resolve();
  });
  result.catch(() => {}); // thrown below
  for (;;) {
    const events = told;
    told = [];
    yield* events;
    if (told.length > 0) continue;
    if (over) return result;
    wake = defer();
    let quiet = false;
    const disarm = clock.after(idleMs(), () => {
      quiet = true;
      wake.resolve();
    });
    await wake.promise;
    disarm();
    if (quiet) yield { type: "idle" };
  }
}
