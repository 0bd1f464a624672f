import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/**
 * Stands in for vLLM, SGLang, llama-server and LM Studio, with the shapes that their sources have: vLLM 0.10
 * (`entrypoints/openai/protocol.py`, `serving_models.py`), SGLang 0.5 (`entrypoints/openai/protocol.py`, `io_struct.py`,
 * `http_server.py`), llama.cpp b6500 (`tools/server`). The answers are made up.
 */
export type FakeKind = "vllm" | "sglang" | "llamacpp" | "organization_owner";

export interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: tests look at fields of other programs' requests
  readonly body: any;
}

type Piece = string | { readonly calls: readonly object[] };

export interface FakeOptions {
  readonly kind?: FakeKind;
  readonly model?: string;
  readonly root?: string;
  readonly maxLength?: number;
  /** Pieces of each answer. */
  readonly pieces?: readonly Piece[];
  readonly finish?: string;
  /** What it answers instead: status, body, headers. */
  readonly refuse?: (asked: Asked) => readonly [status: number, body: object, headers?: Record<string, string>] | null;
  /** Cuts the connection after so many pieces; `silent` goes on forever after them. */
  readonly cutAfter?: number;
  readonly silentAfter?: number;
  /** What of a stream's bytes arrives, in which packets, and whether the connection breaks after them. */
  readonly torn?: (whole: Buffer) => { readonly packets: readonly Buffer[]; readonly breaks: boolean };
  /** An error event in mid-answer. */
  readonly errorAfter?: number;
  /** What it sends again and again, for ever. */
  readonly endless?: string;
  readonly preloaded?: readonly string[];
  readonly runtimeLora?: boolean;
  readonly usage?: boolean;
  /** Other models, by what they answer. */
  readonly others?: Readonly<Record<string, string>>;
  /** Of what an adapter changes that much is there: 0 where it answers without it. Default: 1. */
  readonly applied?: number;
  /** It tells no probabilities. */
  readonly silentOnProbabilities?: boolean;
  readonly port?: number;
}

export interface Fake {
  readonly url: string;
  readonly port: number;
  readonly asked: Asked[];
  /** Adapters that it holds, by name. */
  readonly loaded: Map<string, string>;
  change(options: FakeOptions): void;
  close(): Promise<void>;
}

const USAGE = { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 };

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece;
  return text === "" ? null : JSON.parse(text);
};

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): unknown => {
  return response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
};

const models = (
  { kind = "vllm", model = "big-model", root = model, maxLength = 4096, others = {} }: FakeOptions,
  loaded: Fake["loaded"],
) => {
  const common = { object: "model", created: 1_700_000_000, owned_by: kind };
  if (kind === "llamacpp")
    return { object: "list", data: [{ ...common, id: model, meta: { vocab_type: 2, n_vocab: 49152, n_ctx_train: maxLength } }] };
  const ids = [model, ...Object.keys(others)];
  if (kind === "organization_owner") return { object: "list", data: ids.map((id) => ({ id, object: "model", owned_by: kind })) };
  const adapters = [...loaded].map(([id, path]) => ({ ...common, id, root: path, parent: model, max_model_len: null }));
  return { object: "list", data: [{ ...common, id: model, root, parent: null, max_model_len: maxLength }, ...adapters] };
};

const chunkOf = (path: string, piece: Piece | null, finish: string | null, stop: unknown = null): object => {
  const head = { id: "cmpl-1", created: 1_700_000_000, model: "m" };
  if (path === "/v1/completions") {
    const choice = { index: 0, text: piece ?? "", logprobs: null, finish_reason: finish, stop_reason: stop };
    return { ...head, object: "text_completion", choices: [choice], usage: null };
  }
  const delta = piece === null ? {} : typeof piece === "string" ? { content: piece } : { tool_calls: piece.calls };
  const choice = { index: 0, delta, logprobs: null, finish_reason: finish, stop_reason: stop };
  return { ...head, object: "chat.completion.chunk", choices: [choice] };
};

/** A completion of one token with the likeliest ones, as a model with or without an adapter tells them. */
const likeliest = ({ kind = "vllm", model = "big-model", ...options }: FakeOptions, asked: Asked["body"]): object => {
  const { applied = 1 } = options;
  // As the real llama-server does: without a list, or with an empty one, it applies what it was started with.
  const scales: readonly { scale: number }[] = asked.lora?.length
    ? asked.lora
    : (options.preloaded ?? []).map(() => ({ scale: 1 }));
  const isAdapted = applied > 0 && (asked.model !== model || scales.some(({ scale }) => scale > 0));
  const [first, second] = isAdapted ? [-0.25 - 0.5 * applied, -1.5] : [-0.25, -9.75];
  const listed = [
    { id: 7, token: "I", logprob: first },
    { id: 9, token: "You", logprob: second },
  ];
  const told =
    kind === "llamacpp"
      ? { content: [{ ...listed[0], top_logprobs: listed }] }
      : {
          top_logprobs: [
            asked.return_tokens_as_token_ids ? { "token_id:7": first, "token_id:9": second } : { I: first, You: second },
          ],
        };
  const logprobs = options.silentOnProbabilities ? null : told;
  return {
    id: "cmpl-1",
    object: "text_completion",
    choices: [{ index: 0, text: isAdapted ? "I" : "You", logprobs, finish_reason: "length" }],
  };
};

export const startFake = async (first: FakeOptions = {}): Promise<Fake> => {
  let options = first;
  const asked: Asked[] = [];
  const loaded = new Map<string, string>();

  const stream = async ({ path, body }: Asked, response: ServerResponse): Promise<void> => {
    const other = options.others?.[body.model];
    const { pieces = ["Hello", " there."], finish = "stop", cutAfter, silentAfter, errorAfter, usage = true } = options;
    const whole: Buffer[] = [];
    const write = (bytes: Buffer): Promise<unknown> => new Promise((sent) => response.write(bytes, sent));
    const data = async (value: unknown): Promise<void> => {
      const event = Buffer.from(`data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`);
      if (options.torn) whole.push(event);
      else await write(event);
    };
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    if (path === "/v1/chat/completions")
      await data({
        ...chunkOf(path, null, null),
        choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }],
      });
    response.write(": a comment\n\n");
    if (options.endless !== undefined) {
      const more = options.endless;
      while (!response.destroyed) await new Promise((sent) => response.write(more, sent));
      return;
    }
    for (const [at, piece] of (other === undefined ? pieces : [other]).entries()) {
      if (at === cutAfter) return void response.destroy();
      if (at === silentAfter) return;
      if (at === errorAfter) {
        await data({ error: { message: "EngineCore died", type: "InternalServerError", code: 500 } });
        return void response.end();
      }
      await data(chunkOf(path, piece, null));
    }
    await data(chunkOf(path, null, finish));
    if (usage) await data({ ...chunkOf(path, null, null), choices: [], usage: USAGE });
    await data("[DONE]");
    const { packets, breaks } = options.torn?.(Buffer.concat(whole)) ?? { packets: [], breaks: false };
    for (const packet of packets) await write(packet);
    if (breaks) response.destroy();
    else response.end();
  };

  const load = (
    path: string,
    { lora_name, lora_path }: { lora_name: string; lora_path: string },
    response: ServerResponse,
  ): unknown => {
    const { kind = "vllm", runtimeLora = true } = options;
    if (kind === "vllm" && (!runtimeLora || path !== "/v1/load_lora_adapter"))
      return json(response, 404, { detail: "Not Found" });
    if (kind === "sglang") {
      if (path !== "/load_lora_adapter") return json(response, 404, { detail: "Not Found" });
      if (loaded.has(lora_name))
        return json(response, 400, { success: false, error_message: `LoRA with name ${lora_name} already exists.` });
      loaded.set(lora_name, lora_path);
      return json(response, 200, { success: true, error_message: null, loaded_adapters: Object.fromEntries(loaded) });
    }
    if (loaded.has(lora_name)) {
      const message = `The lora adapter '${lora_name}' has already been loaded.`;
      return json(response, 400, { object: "error", message, type: "InvalidUserInput", param: null, code: 400 });
    }
    loaded.set(lora_name, lora_path);
    return response
      .writeHead(200, { "content-type": "text/plain" })
      .end(`Success: LoRA adapter '${lora_name}' added successfully.`);
  };

  const server = createServer(async (request, response) => {
    const { kind = "vllm", refuse, preloaded = [] } = options;
    const path = request.url ?? "/";
    const one: Asked = { path, headers: request.headers, body: await bodyOf(request) };
    asked.push(one);
    const refused = refuse?.(one);
    if (refused) return json(response, refused[0], refused[1], refused[2]);
    if (path === "/v1/models") return json(response, 200, models(options, loaded));
    if (path === "/lora-adapters" && kind === "llamacpp")
      return json(
        response,
        200,
        preloaded.map((file, id) => ({ id, path: file, scale: 0, task_name: "", prompt_prefix: "" })),
      );
    if (path.endsWith("/load_lora_adapter")) return load(path, one.body, response);
    if (path === "/v1/completions" && one.body.stream !== true) return json(response, 200, likeliest(options, one.body));
    if (path === "/v1/chat/completions" || path === "/v1/completions") return void (await stream(one, response));
    json(response, 404, { detail: "Not Found" });
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    asked,
    loaded,
    change: (next) => {
      options = { ...options, ...next };
    },
    close,
  };
};
