import { join } from "node:path";
import { Export, ExportFormat, ExportRequest, StartResponse } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import { Type } from "typebox";
import { ProblemError, quote } from "../../common/error.js";
import type { App } from "../../http/app.js";
import { answer, idParams, problems, QUEUED } from "../../http/schemas.js";
import { DOWNLOAD, sendFile } from "../../http/send-file.js";
import type { KindDeps } from "../../kinds/deps.js";
import { findExport } from "../../kinds/export/store.js";
import { type LaunchDeps, startJob } from "../../launch/start.js";
import { requireAdapter } from "../../registry/require-adapter.js";

interface Deps extends LaunchDeps {
  readonly deps: KindDeps;
}

export const exportRoutes = (app: App, services: Deps): void => {
  const { database, paths } = services.deps;

  const requireExport = async (adapterId: string, format: string): Promise<Export> => {
    const adapter = await requireAdapter(database, adapterId);
    const found = matches(ExportFormat, format) ? await findExport(paths, adapter, format) : null;
    if (found) return found;
    throw new ProblemError("EXPORT_NOT_FOUND", `The adapter ${adapter.adapter_id} is not exported as ${quote(format)}.`);
  };

  app.post(
    "/adapters/:adapter_id/export",
    {
      schema: {
        tags: ["adapters"],
        summary: "Export an adapter as a job of its own; one that is there already completes at once",
        params: idParams("adapter_id"),
        body: ExportRequest,
        response: { 202: answer("The job is queued", StartResponse), ...problems("ADAPTER_NOT_FOUND", ...QUEUED) },
      },
    },
    async (request, reply) => {
      const { adapter_id, base_model } = await requireAdapter(database, request.params.adapter_id);
      const { format } = request.body;
      const start = { kind: "export", request: { adapter_id, format, base_model } } as const;
      return reply.code(202).send(await startJob(request, start, services));
    },
  );

  app.get(
    "/adapters/:adapter_id/exports/:format",
    {
      schema: {
        tags: ["adapters"],
        summary: "An export that is there",
        params: Type.Object({ adapter_id: Type.String(), format: Type.String() }),
        response: { 200: answer("The export", Export), ...problems("ADAPTER_NOT_FOUND", "EXPORT_NOT_FOUND") },
      },
    },
    async ({ params }) => requireExport(params.adapter_id, params.format),
  );

  app.get(
    "/adapters/:adapter_id/exports/:format/files/:name",
    {
      schema: {
        tags: ["adapters"],
        summary: "Download a file of an export",
        params: Type.Object({ adapter_id: Type.String(), format: Type.String(), name: Type.String() }),
        response: { ...DOWNLOAD, ...problems("ADAPTER_NOT_FOUND", "EXPORT_NOT_FOUND", "NOT_FOUND") },
      },
    },
    async (request, reply) => {
      const { adapter_id, format, name } = request.params;
      const found = await requireExport(adapter_id, format);
      const file = found.files.find((one) => one.name === name);
      const sent = file && (await sendFile(request, reply, { folder: join(paths.root, found.path), file }));
      if (!sent) throw new ProblemError("NOT_FOUND", `The export has no file ${quote(name)}.`);
      return reply;
    },
  );
};
