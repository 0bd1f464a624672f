import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { broken, odd, pick, type Random, type Schema, valid } from "../support/from-schema.js";
import { makeNative } from "../support/native.js";
import { createRandom } from "../support/random.js";
import { MODEL, type Service, startLora, startService } from "../support/service.js";

/** `IMPRINT_FUZZ=20000,7 npx vitest run packages/server/test/http/fuzz.test.ts`: so many requests, of this seed. */
const [REQUESTS = 600, SEED = 41] = (process.env.IMPRINT_FUZZ ?? "").split(",").filter(Boolean).map(Number);

interface Content {
  readonly schema?: Schema;
}
interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}
interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly operation: Operation;
}

interface Document {
  /** What schemas refer to, by their paths in the document. */
  readonly components: object;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const callsOf = ({ paths }: Document): readonly Call[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase() as Call["method"],
      path,
      operation,
    })),
  );

/** What requests name, by the field or parameter that names it: what answers held under that name, the latest last. */
type Names = Map<string, string[]>;
const KEPT = 8;
/** Parameters whose values stand under other names in answers. */
const ALIASES: Readonly<Record<string, string>> = {
  file_id: "id",
  training_file: "id",
  resume_from: "job_id",
  session_ids: "session_id",
  trajectory_ids: "session_id",
  base_model: "model",
  models: "model",
};
const OTHER = ["absent", "project", "gguf", "http://127.0.0.1:9", "adapter_model.safetensors"];

const learn = (names: Names, value: unknown, name = ""): void => {
  if (typeof value === "string" && value.length < 100) {
    const others = (names.get(name) ?? []).filter((known) => known !== value);
    names.set(name, [...others, value].slice(-KEPT));
  } else if (typeof value === "object" && value !== null)
    for (const [key, one] of Object.entries(value)) learn(names, one, Array.isArray(value) ? name : key);
};

/** Makes what requests name, where it was deleted. */
const provide = async (service: Service, names: Names): Promise<void> => {
  for (const name of ["first", "second"])
    if ((await service.get(`/sessions/${name}`)).statusCode === 404) await service.post("/sessions", makeNative(name));
  const listed = async () => (await service.get("/adapters")).json<{ adapters: object[] }>();
  if ((await listed()).adapters.length === 0) await service.ended(await startLora(service, { session_id: "first" }));
  learn(names, await listed());
  learn(names, { session_id: ["first", "second"], model: MODEL });
};

interface Asked {
  readonly method: Call["method"];
  readonly url: string;
  readonly payload?: string | FormData;
  readonly headers: Readonly<Record<string, string>>;
}

const EXAMPLE = JSON.stringify({ messages: ["user", "assistant"].map((role) => ({ role, content: "What port? 7419." })) });

const form = (text: string): FormData => {
  const made = new FormData();
  made.set("purpose", "fine-tune");
  made.set("file", new File([text], "examples.jsonl"));
  return made;
};

/** A request of a call: valid by its schemas, or broken in one place. */
const askFor = (random: Random, { method, path, operation }: Call, names: Names): Asked => {
  const { parameters = [], requestBody } = operation;
  const words = (name: string): readonly string[] => (random() < 0.85 ? (names.get(ALIASES[name] ?? name) ?? OTHER) : OTHER);
  const wordFor = (schema: Schema, name: string): string => {
    const word = random() < 0.1 ? odd(random) : valid(random, schema, words, name);
    return Buffer.from(typeof word === "string" ? word : JSON.stringify(word)).toString();
  };
  // A name is one of what stands before it.
  const url = path.replaceAll(/(\w+)\/\{(\w+)\}/g, (_, of, name) => {
    const word = wordFor({ type: "string" }, name === "name" ? of : name);
    return `${of}/${encodeURIComponent(word)}`;
  });
  const query = new URLSearchParams();
  for (const { in: place, name, schema } of parameters)
    if (place === "query" && random() < 0.3) query.append(name, wordFor(schema, name));
  const [type, content] = pick(random, Object.entries(requestBody?.content ?? { "": {} }));
  const target = { method, url: query.size > 0 ? `${url}?${query}` : url };
  if (type === "") return { ...target, headers: {} };
  const body = path === "/sessions" ? JSON.parse(makeNative("first")) : valid(random, content?.schema ?? {}, words);
  const text = JSON.stringify(random() < 0.6 ? body : broken(random, body));
  const cut = random() < 0.05 ? text.slice(0, Math.floor(random() * text.length)) : text;
  if (type.startsWith("multipart/"))
    return { ...target, payload: form(random() < 0.6 ? `${EXAMPLE}\n`.repeat(12) : cut), headers: {} };
  return { ...target, payload: cut, headers: { "content-type": type } };
};

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Asks as clients do. What follows in a stream is not waited for. */
const ask = async (service: Service, { url, method, payload, headers }: Asked): Promise<Answer> => {
  const response = await fetch(new URL(url, service.url), { method, headers, ...(payload !== undefined && { body: payload }) });
  const [type = ""] = (response.headers.get("content-type") ?? "").split(";", 1);
  if (type !== "text/event-stream") return { status: response.status, type, body: await response.text() };
  await response.body?.cancel();
  return { status: response.status, type, body: "" };
};

/** What is wrong with an answer to a call, or null. */
type Judge = (call: Call, answer: Answer) => string | null;

const createJudge = ({ components }: Document): Judge => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const validators = new Map<Schema, ValidateFunction>();
  return ({ operation: { responses } }, { status, type, body }) => {
    if (status >= 500) return "a failure of the service's";
    const documented = responses[String(status)] ?? responses.default;
    if (documented === undefined) return "a status that is not in the document";
    const schema = documented.content?.[type]?.schema;
    if (schema === undefined || !type.endsWith("json")) return null;
    const validate = validators.get(schema) ?? ajv.compile({ ...schema, components });
    validators.set(schema, validate);
    return validate(JSON.parse(body)) ? null : ajv.errorsText(validate.errors);
  };
};

test("whatever a call of the document is asked, its answer is one that the document names, and no fault of the service", {
  timeout: REQUESTS * 200,
}, async () => {
  const service = await startService();
  const document = (await service.get("/openapi.json")).json<Document>();
  const calls = callsOf(document);
  const names: Names = new Map();
  const random = createRandom(SEED);
  const judge = createJudge(document);
  const faults: string[] = [];
  const answered = new Map<string, number>();
  for (let at = 0; at < REQUESTS; at += 1) {
    if (at % 200 === 0) await provide(service, names);
    const call = calls[at % calls.length] as Call;
    const asked = askFor(random, call, names);
    const answer = await ask(service, asked);
    if (answer.status < 300 && answer.type === "application/json") learn(names, JSON.parse(answer.body));
    const key = `${call.method} ${call.path} ${answer.status}`;
    answered.set(key, (answered.get(key) ?? 0) + 1);
    const fault = judge(call, answer);
    if (fault) faults.push(`${asked.method} ${asked.url} ${asked.payload ?? ""}: ${answer.status}, ${fault}`.slice(0, 1000));
  }
  // What was never asked, or never answered well, is not proved.
  const table = [...answered.keys()].sort().map((key) => `${key}: ${answered.get(key)}`);
  if (process.env.IMPRINT_FUZZ) console.log(table.join("\n"));
  expect(faults).toEqual([]);
  expect((await service.get("/health")).statusCode).toBe(200);
});
