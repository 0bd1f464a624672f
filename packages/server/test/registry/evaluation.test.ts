import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startLora, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

const evaluatedAdapter = async () => {
  const service = await startService();
  putSession(service.dataDir, "s");
  putSession(service.dataDir, "t");
  await service.ended(await startLora(service, { session_id: "s", adapter_id: "a" }));
  const home = join(service.dataDir, "adapters", "a");
  const card = readFileSync(join(home, "README.md"));
  const { job_id } = (await service.post("/adapters/a/evaluate", { session_ids: ["t"], seed: 5 })).json();
  await service.ended(job_id);
  return { service, home, card };
};

test.each([
  ["before the first file", ["README.md", "evaluation.json"]],
  ["between the files", ["evaluation.json"]],
  ["after the files, before the row", []],
])("an evaluation that a crash interrupts %s arrives at the next start, with the adapter whole", async (_when, left) => {
  const { service, home, card } = await evaluatedAdapter();
  const evaluated = readFileSync(join(home, "evaluation.json"));
  await service.close(0);
  // As an interrupted one leaves it: the row is of the adapter without the evaluation.
  const { default: Libsql } = await import("libsql");
  const database = new Libsql(join(service.dataDir, "registry.db"));
  const [row] = database.prepare("select files from adapters").all() as [{ files: string }];
  const files = (JSON.parse(row.files) as { name: string }[]).filter(({ name }) => name !== "evaluation.json");
  database.prepare("update adapters set evaluation = null, files = ?").run(JSON.stringify(files));
  database.close();
  const ready = join(service.dataDir, "adapters", ".evaluated", "a");
  mkdirSync(ready);
  for (const name of left) renameSync(join(home, name), join(ready, name));
  if (left.includes("README.md")) writeFileSync(join(home, "README.md"), card);

  const again = await startService({ dataDir: service.dataDir });
  expect((await again.post("/adapters/a/verify")).json()).toMatchObject({ health: "ok", evaluation: { verdict: "helps" } });
  expect((await again.get("/adapters/a/evaluation")).json()).toEqual(JSON.parse(evaluated.toString()));
  expect(readFileSync(join(home, "README.md"), "utf8")).toContain("## Evaluation");
  expect(readdirSync(join(service.dataDir, "adapters", ".evaluated"))).toEqual([]);
});

test.each(["archived", "removed by hand"])(
  "what a crash left of an adapter that was %s is removed at the next start",
  async (how) => {
    const { service, home } = await evaluatedAdapter();
    if (how === "archived") await service.call({ method: "DELETE", url: "/adapters/a" });
    await service.close(0);
    const card = existsSync(home) && readFileSync(join(home, "README.md"), "utf8");
    const ready = join(service.dataDir, "adapters", ".evaluated", "a");
    mkdirSync(ready);
    writeFileSync(join(ready, "README.md"), "late");
    if (how !== "archived") rmSync(home, { recursive: true });
    await startService({ dataDir: service.dataDir });
    expect(existsSync(ready)).toBe(false);
    if (how === "archived") expect(readFileSync(join(home, "README.md"), "utf8")).toBe(card);
  },
);
