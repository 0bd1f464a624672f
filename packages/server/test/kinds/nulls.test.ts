import { TrainHypernetworkRequest, TrainLoraPreviewRequest, TrainLoraRequest } from "@imprint/contracts";
import { expect, test } from "vitest";
import { startService } from "../support/service.js";
import { putSession } from "../support/session.js";

interface Details {
  readonly status: string;
  readonly request: Readonly<Record<string, unknown>>;
}

const calls = [
  ["/train/lora", { session_id: "s", adapter_id: "a", seed: 7 }, TrainLoraRequest],
  ["/train/hypernetwork", { trajectory_ids: ["s"], adapter_id: "a", seed: 7 }, TrainHypernetworkRequest],
] as const;

test.each(calls)("%s: null for whatever may be left out means left out", async (url, body, { properties }) => {
  const nulls = Object.fromEntries(Object.keys(properties).map((field) => [field, null]));
  const requestOf = async (payload: object) => {
    const service = await startService();
    putSession(service.dataDir, "s");
    const started = await service.post(url, payload);
    expect(started.statusCode, started.body).toBe(200);
    const { job_id } = started.json<{ job_id: string }>();
    await service.ended(job_id);
    return (await service.get(`/jobs/${job_id}/details`)).json<Details>();
  };
  const leftOut = await requestOf(body);
  expect(leftOut.status).toBe("completed");
  expect((await requestOf({ ...nulls, ...body })).request).toEqual(leftOut.request);
});

test("the document says which fields may be null, and a preview takes none", async () => {
  const service = await startService();
  const { paths } = (await service.get("/openapi.json")).json();
  const propertiesOf = (url: string) => paths[url].post.requestBody.content["application/json"].schema.properties;
  const lora = propertiesOf("/train/lora");
  expect(lora.rank).toMatchObject({ type: ["integer", "null"], minimum: 1, maximum: 256, default: 16 });
  expect(lora.quantization.anyOf).toHaveLength(3);
  expect(lora.quantization.anyOf[2]).toEqual({ type: "null" });
  expect(propertiesOf("/train/hypernetwork").trajectory_ids.type).toBe("array");
  expect(propertiesOf("/train/lora/preview").rank).toEqual(JSON.parse(JSON.stringify(TrainLoraPreviewRequest.properties.rank)));
  expect((await service.post("/train/lora/preview", { session_id: "s", rank: null })).statusCode).toBe(422);
});

test("a repeated call with a null more or less is the same call", async () => {
  const service = await startService();
  putSession(service.dataDir, "s");
  const start = (payload: object) =>
    service.call({ method: "POST", url: "/train/lora", payload, headers: { "idempotency-key": "k" } });
  const first = await start({ session_id: "s", adapter_id: "a" });
  expect((await start({ session_id: "s", adapter_id: "a", rank: null })).json()).toEqual(first.json());
});

test.each(calls)("%s: a field that is unknown is refused, null or not", async (url, body) => {
  const service = await startService();
  putSession(service.dataDir, "s");
  const refused = await service.post(url, { ...body, unheard: null });
  expect(refused.statusCode, refused.body).toBe(422);
  expect(refused.json()).toMatchObject({ errors: [{ path: "/unheard" }] });
});
