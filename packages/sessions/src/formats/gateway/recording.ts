import type { ChatMessage, ChatTool } from "@imprint/contracts";

/** What tells a recording of the service's own from all others. */
export const GATEWAY_MARK = "imprint";

/** A conversation as the service answered it: what was sent to the engine last, and the answer behind it. */
export interface GatewayRecording {
  readonly recorded_by: typeof GATEWAY_MARK;
  readonly version: 1;
  readonly session_id: string;
  /** When its first request came, ISO 8601. */
  readonly started_at: string;
  /** Who asked, where that is known. */
  readonly agent: string | null;
  /** The adapter or base model that answered last. */
  readonly model: string;
  readonly tools: readonly ChatTool[];
  readonly messages: readonly ChatMessage[];
  /** Messages, by their places, that the service answered in this conversation; other answers were sent to it. */
  readonly answered: readonly number[];
  /** Those whose end the room for an answer cut off. */
  readonly cut: readonly number[];
}
