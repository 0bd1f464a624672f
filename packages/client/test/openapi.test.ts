import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  Adapter,
  AdapterList,
  BaseModelList,
  Evaluation,
  Export,
  type ExportFormat,
  Health,
  ImportResult,
  JobDetails,
  JobEvent,
  JobList,
  JobRecord,
  JobsEvent,
  PreviewReport,
  Project,
  ProjectEvent,
  ProjectList,
  ProjectRunStart,
  Resubmitted,
  Session,
  SessionList,
  SessionSummary,
  StartResponse,
  type TaskMeasurements,
  TaskReport,
} from "@imprint/contracts";
import { loadConfig, startServer } from "@imprint/server";
import type { Static, TSchema } from "typebox";
import { expect, it, onTestFinished } from "vitest";
import type { EventStream, Imprint } from "../src/index.js";
import { service } from "./support/service.js";

interface Row {
  readonly operation: string;
  /** What the document says of its success; null where there is no JSON. */
  readonly schema: TSchema | null;
  readonly call: (client: Imprint) => Promise<unknown>;
}

/** An operation and the method that calls it: what the method answers has the type of the operation's schema. */
const answers = <S extends TSchema>(operation: string, schema: S, call: (client: Imprint) => Promise<Static<S>>): Row => ({
  operation,
  schema,
  call,
});
const streams = <S extends TSchema>(operation: string, schema: S, call: (client: Imprint) => EventStream<Static<S>>): Row => ({
  operation,
  schema,
  call: (client) => call(client)[Symbol.asyncIterator]().next(),
});
const plain = (operation: string, call: (client: Imprint) => Promise<unknown>): Row => ({ operation, schema: null, call });

/** Stands where a format does: the document's paths are compared with every parameter an x. */
const X = "x" as ExportFormat;

const MEASURED: TaskMeasurements = { agent: "mini-swe-agent", control_adapter_id: null, seeds: 1, tasks: [], runs: [] };

const ROWS: readonly Row[] = [
  answers("GET /health", Health, (c) => c.health()),
  answers("POST /train/lora", StartResponse, (c) => c.train.lora({ session_id: "s" })),
  answers("POST /train/lora/preview", PreviewReport, (c) => c.train.preview({ session_id: "s" })),
  answers("POST /train/sweep", StartResponse, (c) => c.train.sweep({ session_id: "s", rank: [4, 8] })),
  answers("POST /train/hypernetwork", StartResponse, (c) => c.train.hypernetwork({ trajectory_ids: ["s"] })),
  answers("GET /jobs", JobList, (c) => c.jobs.list()),
  answers("GET /jobs/{job_id}", JobRecord, (c) => c.jobs.get("x")),
  answers("GET /jobs/{job_id}/details", JobDetails, (c) => c.jobs.details("x")),
  answers("POST /jobs/resubmit", Resubmitted, (c) => c.jobs.resubmit()),
  plain("POST /jobs/{job_id}/cancel", (c) => c.jobs.cancel("x")),
  answers("POST /jobs/{job_id}/salvage", StartResponse, (c) => c.jobs.salvage("x")),
  streams("GET /jobs/{job_id}/events", JobEvent, (c) => c.jobs.events("x")),
  streams("GET /jobs/events", JobsEvent, (c) => c.jobs.watch()),
  answers("POST /sessions", ImportResult, (c) => c.sessions.create("{}")),
  answers("GET /sessions", SessionList, (c) => c.sessions.list()),
  answers("GET /sessions/{session_id}", SessionSummary, (c) => c.sessions.get("x")),
  answers("GET /sessions/{session_id}/content", Session, (c) => c.sessions.content("x")),
  answers("PATCH /sessions/{session_id}", SessionSummary, (c) => c.sessions.label("x", "success")),
  plain("DELETE /sessions/{session_id}", (c) => c.sessions.delete("x")),
  answers("POST /sessions/{session_id}/preview", PreviewReport, (c) => c.sessions.preview("x")),
  answers("GET /adapters", AdapterList, (c) => c.adapters.list()),
  answers("GET /adapters/{adapter_id}", Adapter, (c) => c.adapters.get("x")),
  plain("GET /adapters/{adapter_id}/files/{name}", (c) => c.adapters.file("x", "x")),
  answers("POST /adapters/{adapter_id}/verify", Adapter, (c) => c.adapters.verify("x")),
  answers("POST /adapters/{adapter_id}/serve", Adapter, (c) => c.adapters.serve("x")),
  answers("POST /adapters/{adapter_id}/export", StartResponse, (c) => c.adapters.export("x", "gguf")),
  answers("GET /adapters/{adapter_id}/exports/{format}", Export, (c) => c.adapters.getExport("x", X)),
  plain("GET /adapters/{adapter_id}/exports/{format}/files/{name}", (c) => c.adapters.exportFile("x", X, "x")),
  answers("POST /adapters/{adapter_id}/evaluate", StartResponse, (c) => c.adapters.evaluate("x")),
  answers("GET /adapters/{adapter_id}/evaluation", Evaluation, (c) => c.adapters.evaluation("x")),
  answers("GET /adapters/{adapter_id}/tasks", TaskReport, (c) => c.adapters.tasks("x")),
  answers("PUT /adapters/{adapter_id}/tasks", TaskReport, (c) => c.adapters.putTasks("x", MEASURED)),
  plain("DELETE /adapters/{adapter_id}", (c) => c.adapters.delete("x")),
  answers("GET /projects", ProjectList, (c) => c.projects.list()),
  answers("GET /projects/{name}", Project, (c) => c.projects.get("x")),
  plain("DELETE /projects/{name}", (c) => c.projects.delete("x")),
  answers("POST /projects/{name}/runs", ProjectRunStart, (c) => c.projects.run("x")),
  answers("POST /projects/{name}/rollback", Project, (c) => c.projects.rollback("x")),
  answers("GET /models", BaseModelList, (c) => c.models.bases()),
  answers("POST /models", StartResponse, (c) => c.models.pull("x")),
  plain("DELETE /models/{name}", (c) => c.models.delete("x")),
  streams("GET /projects/{name}/events", ProjectEvent, (c) => c.projects.events("x")),
];

/** What is for programs of other kinds: OpenAI's clients speak to /v1, Prometheus reads /metrics, a browser signs in. */
const isForOthers = (route: string): boolean => / \/(v1\/|metrics$|sign-in$|openapi\.json$)/.test(route);

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: unknown }>> }>>;
}

/** The document of a real service, its operations by method and path. */
async function operations(): Promise<ReadonlyMap<string, Operation>> {
  const folder = await mkdtemp(path.join(tmpdir(), "imprint-client-"));
  const config = loadConfig({
    flags: { data_dir: folder, port: 0, log_level: "silent" },
    env: {},
    home: folder,
    repoRoot: folder,
  });
  const server = await startServer(config);
  onTestFinished(async () => {
    await server.close(0);
    await rm(folder, { recursive: true, force: true });
  });
  const response = await fetch(`${server.url}/openapi.json`);
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, Operation>> };
  return new Map(
    Object.entries(paths).flatMap(([route, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${route}`, operation] as const),
    ),
  );
}

/** The schema in the document's words, which have a list of one for a constant, and no patterns for the names of fields. */
const documented = (schema: TSchema): unknown =>
  JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (typeof value !== "object" || value === null) return value;
    const { const: only, patternProperties, ...rest } = value;
    if ("const" in value) return { ...rest, enum: [only] };
    return patternProperties ? { ...rest, additionalProperties: Object.values(patternProperties)[0] } : value;
  });

it("every call of the document has a method, which asks for that path and answers with the document's shape", async () => {
  const found = await operations();
  expect([...found.keys()].filter((route) => !isForOthers(route)).sort()).toEqual(ROWS.map(({ operation }) => operation).sort());
  for (const { operation, schema, call } of ROWS) {
    const { client, seen } = await service([{ status: 200, body: {} }]);
    await call(client).catch(() => undefined);
    const [request] = seen;
    expect(`${request?.method} ${request?.url}`).toBe(operation.replaceAll(/\{\w+\}/g, "x"));
    if (schema === null) continue;
    const { responses } = found.get(operation) as Operation;
    const shapes = Object.entries(responses).flatMap(([status, { content = {} }]) =>
      status.startsWith("2") ? Object.values(content).map((one) => one.schema) : [],
    );
    expect(shapes.length, operation).toBeGreaterThan(0);
    for (const shape of shapes) expect(shape, operation).toEqual(documented(schema));
  }
});
