import { existsSync } from "node:fs";
import { join } from "node:path";
import { BaseModelList } from "@imprint/contracts";
import { Check } from "typebox/value";
import { expect, test } from "vitest";
import { makeModel, startService } from "../support/service.js";

test("base models are listed and removed, and a job can name one that was added meanwhile", async () => {
  const service = await startService();
  makeModel(join(service.dataDir, "models", "own"));
  const listed = (await service.get("/models")).json();
  expect(Check(BaseModelList, listed)).toBe(true);
  const names = (there: { models: { name: string; here: boolean }[] }) =>
    there.models.filter(({ here }) => here).map(({ name }) => name);
  expect(names(listed)).toContain("own");
  expect((await service.call({ method: "DELETE", url: "/models/own" })).statusCode).toBe(204);
  expect(existsSync(join(service.dataDir, "models", "own"))).toBe(false);
  expect(names((await service.get("/models")).json())).not.toContain("own");
  const again = await service.call({ method: "DELETE", url: "/models/own" });
  expect([again.statusCode, again.json().code]).toEqual([422, "BASE_MODEL_NOT_FOUND"]);
  expect((await service.call({ method: "DELETE", url: "/models/me%2Fnobody" })).json().code).toBe("BASE_MODEL_NOT_FOUND");
  const inUse = await service.call({ method: "DELETE", url: "/models/test-model" });
  expect([inUse.statusCode, inUse.json().code]).toEqual([409, "BASE_MODEL_IN_USE"]);
});
