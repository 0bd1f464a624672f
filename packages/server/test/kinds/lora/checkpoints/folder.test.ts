import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import { expect, test } from "vitest";
import { FIELDS, readRequest, requestReader, VERSION, writeRequest } from "../../../../src/kinds/lora/checkpoints/folder.js";
import { type ResolvedLora, resolveLora } from "../../../../src/kinds/resolve.js";
import { makeFolder } from "../../../support/service.js";

const random = { seed: () => 7, suffix: () => "0badcafe" };
const REQUEST = resolveLora({ session_id: "s1", epochs: 2 }, { baseModel: "base", random });

/** The digest of the schema that each version stands for, without what is only said about it. */
const DIGESTS: Readonly<Record<number, string>> = { 1: "b3a72ffccddd78f3a76d5ac5649844f215416a3e2f83978ce85fce406bea92ac" };

const folderWith = async (request: ResolvedLora): Promise<string> => {
  const folder = makeFolder();
  await writeRequest(folder, request);
  return folder;
};

const changed = (folder: string, change: (file: { version: number; request: Record<string, unknown> }) => void): string => {
  const path = join(folder, "request.json");
  const file = JSON.parse(readFileSync(path, "utf8"));
  change(file);
  writeFileSync(path, JSON.stringify(file));
  return folder;
};

test("a request that was stored before a field was added goes on as trainings went before it", async () => {
  const folder = await folderWith(REQUEST);
  const readLater = requestReader({ ...FIELDS, sparkle: Type.Number() }, { sparkle: 0 });
  expect(await readLater(folder)).toEqual({ ...REQUEST, sparkle: 0 });
  changed(folder, ({ request }) => Object.assign(request, { sparkle: 3 }));
  expect(await readLater(folder)).toEqual({ ...REQUEST, sparkle: 3 });
});

test("an unknown field, a missing one and another version are refused by name", async () => {
  const refusal = async (change: Parameters<typeof changed>[1]): Promise<string> => {
    const error: unknown = await readRequest(changed(await folderWith(REQUEST), change)).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "CHECKPOINT_INVALID" });
    return (error as Error).message;
  };
  expect(await refusal(({ request }) => Object.assign(request, { sparkle: 3 }))).toBe(
    "The checkpoint's request.json cannot be used: request.sparkle is not a known field.",
  );
  expect(await refusal(({ request }) => delete request.rank)).toBe(
    "The checkpoint's request.json cannot be used: request.rank is required.",
  );
  expect(await refusal((file) => Object.assign(file, { version: VERSION + 1, more: 1 }))).toBe(
    `The checkpoint's request.json is of version ${VERSION + 1}; this Imprint reads ${VERSION}.`,
  );
});

test("the version says what the fields mean", () => {
  const said = (key: string, value: unknown): unknown => (key === "description" || key === "title" ? undefined : value);
  const digest = createHash("sha256")
    .update(JSON.stringify(Object.entries(FIELDS).sort(), said))
    .digest("hex");
  expect(
    digest,
    `What checkpoints store changed. A new field: give it a value in BEFORE (request-file.ts) with which trainings go on as they
did without it, and put the new digest beside version ${VERSION}. Anything else: step VERSION, and add a digest for it.`,
  ).toBe(DIGESTS[VERSION]);
});
