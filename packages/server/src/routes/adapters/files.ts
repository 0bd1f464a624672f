import { Type } from "typebox";
import { ProblemError, quote } from "../../common/error.js";
import type { App } from "../../http/app.js";
import { problems } from "../../http/schemas.js";
import { DOWNLOAD, sendFile } from "../../http/send-file.js";
import type { KindDeps } from "../../kinds/deps.js";
import { requireWhole } from "../../registry/health.js";
import { requireAdapter } from "../../registry/require-adapter.js";

interface Deps {
  readonly deps: KindDeps;
}

/** `GET /adapters/{id}/files/{name}`: only names that the registry recorded exist, so a name never becomes a path of its own. */
export const adapterFilesRoute = (app: App, { deps }: Deps): void => {
  app.get(
    "/adapters/:adapter_id/files/:name",
    {
      schema: {
        tags: ["adapters"],
        summary: "Download a file of an adapter",
        params: Type.Object({ adapter_id: Type.String(), name: Type.String() }),
        response: { ...DOWNLOAD, ...problems("ADAPTER_NOT_FOUND", "ADAPTER_INVALID") },
      },
    },
    async (request, reply) => {
      const adapter = await requireAdapter(deps.database, request.params.adapter_id);
      const file = adapter.files.find(({ name }) => name === request.params.name);
      const sent = file && (await sendFile(request, reply, { folder: await requireWhole(deps, adapter), file }));
      if (!sent)
        throw new ProblemError("NOT_FOUND", `The adapter ${adapter.adapter_id} has no file ${quote(request.params.name)}.`);
      return reply;
    },
  );
};
