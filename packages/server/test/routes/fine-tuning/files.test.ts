import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder, type Service, startService } from "../../support/service.js";

const post = async (
  service: Service,
  fields: Readonly<Record<string, string | Blob>>,
  headers: Readonly<Record<string, string>> = {},
) => {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  const response = await fetch(`${service.url}/v1/files`, { method: "POST", body, headers });
  return { status: response.status, body: (await response.json()) as { id: string } };
};

const file = new Blob(["{}\n"]);

test.each([
  ["no purpose", { file }, "purpose"],
  ["another purpose", { purpose: "assistants", file }, "purpose"],
  ["no file", { purpose: "fine-tune" }, "file"],
  ["text for a file", { purpose: "fine-tune", file: "{}" }, "file"],
  ["an unknown field", { purpose: "fine-tune", file, "expires_after[seconds]": "60" }, "expires_after[seconds]"],
])("an upload with %s is refused by name, and nothing is kept", async (_case, fields, param) => {
  const service = await startService();
  expect(await post(service, fields)).toMatchObject({ status: 400, body: { error: { param } } });
  expect(readdirSync(join(service.dataDir, "uploads"))).toEqual([]);
});

test("a form from another site's page is refused, and no other call takes forms", async () => {
  const service = await startService();
  const foreign = await post(service, { purpose: "fine-tune", file }, { origin: "http://evil.example" });
  expect(foreign.status).toBe(403);
  for (const path of ["/sessions", "/train/lora", "/v1/fine_tuning/jobs"]) {
    const response = await fetch(`${service.url}${path}`, { method: "POST", body: new FormData() });
    expect(response.status, path).toBe(415);
  }
});

test("uploads outlive the service; what a crash left of one does not", async () => {
  const dataDir = makeFolder();
  const first = await startService({ dataDir });
  const { id } = (await post(first, { purpose: "fine-tune", file })).body;
  await first.close(0);
  const orphan = join(dataDir, "uploads", "file-0123");
  writeFileSync(orphan, "{}");
  const second = await startService({ dataDir });
  expect((await second.get(`/v1/files/${id}/content`)).body).toBe("{}\n");
  expect(existsSync(orphan)).toBe(false);
});
