import { Readable } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readForm } from "../../src/http/multipart.js";

const LIMIT = 1000;

/** A form as a client sends it, in pieces of the given size. */
const sent = async (form: FormData, size = 65_536) => {
  const request = new Request("http://x/", { method: "POST", body: form });
  const bytes = Buffer.from(await request.arrayBuffer());
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
  return { pieces, headers: { "content-type": request.headers.get("content-type") ?? "" } };
};

const formOf = (bytes: Uint8Array, more: Readonly<Record<string, string>> = {}): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ purpose: "fine-tune", ...more })) form.append(name, value);
  form.append("file", new Blob([bytes as Uint8Array<ArrayBuffer>]), "training.jsonl");
  return form;
};

const read = async (form: FormData, size?: number) => {
  const { pieces, headers } = await sent(form, size);
  return readForm(Readable.from(pieces), { headers, limit: LIMIT });
};

test("however a form arrives in pieces, the file's bytes and the fields are those that were sent", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: LIMIT }), fc.integer({ min: 1, max: 300 }), async (bytes, size) => {
      const form = await read(formOf(bytes), size);
      expect(form).toEqual({ purpose: "fine-tune", file: { filename: "training.jsonl", bytes: Buffer.from(bytes) } });
    }),
    { numRuns: 30 },
  );
});

const twice = formOf(new Uint8Array(1));
twice.append("purpose", "batch");
const two = formOf(new Uint8Array(1));
two.append("other", new Blob(["x"]), "b");
const many = formOf(new Uint8Array(1), Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f${index}`, "x"])));

test.each([
  ["a file over the limit", formOf(new Uint8Array(LIMIT + 1)), "BODY_TOO_LARGE"],
  ["a field that is long", formOf(new Uint8Array(1), { suffix: "x".repeat(1025) }), "BAD_REQUEST"],
  ["a name twice", twice, "BAD_REQUEST"],
  ["two files", two, "BAD_REQUEST"],
  ["many fields", many, "BAD_REQUEST"],
])("%s is refused", async (_case, form, code) => {
  await expect(read(form)).rejects.toMatchObject({ code });
});

test("a form that breaks off is refused, and so is one without a boundary", async () => {
  const { pieces, headers } = await sent(formOf(new Uint8Array(500)), 100);
  await expect(readForm(Readable.from(pieces.slice(0, -2)), { headers, limit: LIMIT })).rejects.toMatchObject({
    code: "BAD_REQUEST",
  });
  const bare = { "content-type": "multipart/form-data" };
  await expect(readForm(Readable.from(pieces), { headers: bare, limit: LIMIT })).rejects.toMatchObject({ code: "BAD_REQUEST" });
});
