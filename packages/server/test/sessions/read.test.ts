import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SESSION_SCHEMA_VERSION, type Step } from "@imprint/contracts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readSession } from "../../src/sessions/read.js";
import { copySession, writeSession } from "../../src/sessions/write.js";
import { makeFolder } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";

const storedIn = (dataDir: string) => ({ folder: join(dataDir, "sessions"), sessionId: "s", limit: 1e6 });

test("a stored session of a newer Imprint is refused, and says so", async () => {
  const dataDir = makeFolder();
  const schema_version = SESSION_SCHEMA_VERSION + 1;
  putSession(dataDir, "s", JSON.stringify({ ...makeSession("s"), schema_version, colour: "green" }));
  await expect(readSession(storedIn(dataDir))).rejects.toMatchObject({
    code: "SESSION_INVALID",
    message: expect.stringContaining(`schema version ${schema_version}, and this Imprint knows ${SESSION_SCHEMA_VERSION}`),
  });
});

const stepArb: fc.Arbitrary<Step> = fc.record({ source: fc.constantFrom("user", "agent"), text: fc.string({ unit: "binary" }) });

test("what is written is the session's JSON, and is read back and copied as it was", async () => {
  const stepsArb = fc.array(stepArb, { maxLength: 600, size: "max" });
  await fc.assert(
    fc.asyncProperty(stepsArb, fc.constantFrom("", "\n"), async (steps, lineEnd) => {
      const [dataDir, folder] = [makeFolder(), makeFolder()];
      const session = makeSession("s", { steps });
      putSession(dataDir, "s", JSON.stringify(session) + lineEnd);
      const read = await readSession(storedIn(dataDir));
      expect([read.session, read.canonical]).toEqual([session, true]);
      await writeSession(read.session, { path: join(folder, "written"), storedAt: read.storedAt });
      await copySession(storedIn(dataDir), join(folder, "copied"));
      for (const name of ["written", "copied"]) expect(readFileSync(join(folder, name), "utf8")).toBe(JSON.stringify(session));
    }),
    { numRuns: 30 },
  );
});
