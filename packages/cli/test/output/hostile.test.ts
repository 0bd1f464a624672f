import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { Adapter, AdapterList, ImportResult, JobDetails, JobList, PreviewReport, SessionList } from "@imprint/contracts";
import fc from "fast-check";
import type { TSchema } from "typebox";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemIo } from "../../src/io.js";
import { createPaint } from "../../src/output/paint.js";
import { run } from "../../src/run.js";
import { EXAMPLES } from "../support/service.js";

interface Shape {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
}

/** A value of the schema whose texts are all the same; a union is its first alternative. */
function filled(schema: Shape, text: string): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf?.[0]) return filled(schema.anyOf[0], text);
  if (schema.type === "string") return text;
  if (schema.type === "array") return schema.items === undefined ? [] : [filled(schema.items, text)];
  if (schema.type === "integer" || schema.type === "number") return 1;
  if (schema.type === "boolean") return true;
  return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, filled(inner, text)]));
}

const ANSWERS: Readonly<Record<string, TSchema>> = {
  "GET /sessions": SessionList,
  "POST /sessions": ImportResult,
  "GET /jobs": JobList,
  "GET /jobs/x/details": JobDetails,
  "GET /adapters": AdapterList,
  "GET /adapters/x": Adapter,
  "POST /train/lora/preview": PreviewReport,
};

let hostile = "";
/** Answers in the schemas' shapes with hostile texts everywhere; what it does not know it refuses, in hostile words. */
const service = createServer((request, response) => {
  request.resume();
  const schema = ANSWERS[`${request.method} ${request.url?.split("?")[0]}`];
  const problem = { status: 409, detail: hostile, code: "JOB_FINISHED", errors: [{ path: hostile, message: hostile }] };
  response.writeHead(schema === undefined ? 409 : 200, { "content-type": "application/json" });
  response.end(JSON.stringify(schema === undefined ? problem : filled(schema as Shape, hostile)));
});
beforeAll(() => new Promise<void>((resolve) => service.listen(0, "127.0.0.1", () => resolve())));
afterAll(() => void service.close());

const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const STYLE = new RegExp(`${String.fromCharCode(27)}\\[\\d{1,2}m`, "g");
const COMMANDS = [
  "sessions",
  "jobs",
  "adapters",
  "job xxxx",
  "adapter xxxx",
  "preview xxxx --text --turns",
  "cancel xxxx",
  "train xxxx",
  `import ${EXAMPLES}harborline-gates.json`,
];

async function printed(line: string, env: NodeJS.ProcessEnv): Promise<{ out: string; all: string }> {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const said = { out: "", all: "" };
  out.on("data", (text) => {
    said.out += text;
    said.all += text;
  });
  err.on("data", (text) => {
    said.all += text;
  });
  const { port } = service.address() as AddressInfo;
  const io = {
    ...systemIo(),
    out,
    err,
    env,
    paint: { out: createPaint(out as never, env), err: createPaint(err as never, env) },
  };
  await run([...line.split(" "), "--url", `http://127.0.0.1:${port}`], io as never);
  return said;
}

const character = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  fc.constantFrom("\u202e", "\u2066", "\u200b", "\ufeff", "\u009b2J", "\u001b]0;x\u0007", "\u{e0041}", "\r", "\u2028", "a"),
);
const texts = fc.string({ unit: character, minLength: 1, maxLength: 12 });

it.each(COMMANDS)(
  "imprint %s prints nothing unseen, whatever the service says",
  async (line) => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        hostile = text;
        const { all } = await printed(line, {});
        expect(all).not.toMatch(UNSEEN);
        const coloured = await printed(line, { FORCE_COLOR: "1" });
        expect(coloured.all.replaceAll(STYLE, "")).not.toMatch(UNSEEN);
        const { out } = await printed(`${line} --json`, {});
        expect(out).not.toMatch(UNSEEN);
        expect(JSON.stringify(JSON.parse(out))).toContain(JSON.stringify(text).slice(1, -1));
      }),
      { numRuns: 15 },
    );
  },
  60_000,
);

it("shows what is hidden", async () => {
  hostile = "gates\u202e\u001b[31m";
  for (const line of COMMANDS) expect((await printed(line, {})).all).toContain("gates\\u202e\\u001b[31m");
});
