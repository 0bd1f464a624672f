import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type Judgement,
  PreviewReport,
  type PreviewRequest,
  type SessionSummary,
  TrainLoraPreviewRequest,
} from "@imprint/contracts";
import type { FastifyRequest } from "fastify";
import type { App } from "../../http/app.js";
import { answer, BASE_MODEL, problems } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";
import { estimateTime, lastSpeeds, medianOf, tokensOf } from "../../kinds/lora/estimate.js";
import { resolveSelection, sessionIdsOf } from "../../kinds/resolve.js";
import { checkHoldout, checkTurns, checkWindow, requireBaseModel } from "../../launch/start.js";
import type { Interactive } from "../../runners/runner.js";
import { inTransaction } from "../../storage/transaction.js";

export interface Deps {
  readonly deps: KindDeps;
  readonly interactive: Interactive;
}

export const PREVIEW_TIMEOUT_MS = 300_000;

export const previewResponse = {
  200: answer("Windows, tokens, masks and time", PreviewReport),
  ...problems(
    "SESSION_NOT_FOUND",
    "SESSION_INVALID",
    "SESSION_UNSUCCESSFUL",
    ...BASE_MODEL,
    "NOTHING_TO_TRAIN",
    "TEMPLATE_UNSUPPORTED",
    "TIME_TOO_SHORT",
    "WORKER_START_FAILED",
    "DEADLINE_EXCEEDED",
  ),
};

const evidenceIn = ({ evidence }: Judgement): string => evidence.map(({ kind, what }) => `${words(kind)} ${what}`).join("; ");
const words = (kind: string): string => kind.replaceAll("_", " ");

/** Whoever names a session may train on it, and is told where its words are an adapter's, and where its work seems to have failed. */
const remarksOf = ({ session_id, own, model = "this service", outcome, judged }: SessionSummary): readonly string[] => [
  ...(own === true
    ? [
        `${session_id} holds the words of ${model}, which this service answered with: a training on them teaches an adapter what it says already.`,
      ]
    : []),
  ...(outcome === "unknown" && judged?.outcome === "failure"
    ? [
        `${session_id} seems to have failed (${evidenceIn(judged)}) and is trained on all the same: imprint label ${session_id} failure leaves it out.`,
      ]
    : []),
];

/** What a training of these sessions would learn from, by the code that trains. */
export const previewSessions = async (
  call: FastifyRequest,
  { sessionIds, request }: { readonly sessionIds: readonly string[]; readonly request: PreviewRequest },
  { deps, interactive }: Deps,
): Promise<PreviewReport> => {
  const { database, paths, sessions, models } = deps;
  checkHoldout(request.holdout, sessionIds);
  const model = requireBaseModel(request.base_model, models);
  const staging = join(paths.staging, `preview-${randomUUID()}`);
  const selection = resolveSelection(request, sessionIds.length);
  await sessions.require(sessionIds);
  const staged = await sessions.stage({ sessionIds, folder: staging, skipInvalid: selection.skip_invalid });
  try {
    const spec = { ...staged, base_model: model.location, ...selection };
    const window = request.window ?? null;
    const about = { base_model: model.name, quantization: selection.quantization };
    const speeds = await inTransaction(database, (db) => lastSpeeds(db, about));
    const asked = { type: "preview", spec, window, tokens_per_second: medianOf(speeds) } as const;
    const preview = await interactive.call(asked, call.cancelled);
    checkWindow(window, preview.windows);
    const named = await Promise.all(staged.session_ids.map((id) => sessions.summary(id)));
    const remarks = [...preview.remarks, ...named.flatMap(remarksOf)];
    return { ...preview, remarks, ...estimateTime({ tokens: tokensOf(preview), speeds, baseModel: model.name }) };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
};

/** `POST /train/lora/preview`: what the same body would train. */
export const trainPreviewRoute = (app: App, services: Deps): void => {
  app.post(
    "/train/lora/preview",
    {
      config: { timeoutMs: PREVIEW_TIMEOUT_MS },
      schema: {
        tags: ["train"],
        summary: "What the same request would train",
        body: TrainLoraPreviewRequest,
        response: previewResponse,
      },
    },
    async (call) => {
      checkTurns(call.body);
      return previewSessions(call, { sessionIds: sessionIdsOf(call.body), request: call.body }, services);
    },
  );
};
