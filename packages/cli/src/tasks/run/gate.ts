import { once } from "node:events";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";

/** What an agent asks a model by; of all else the service has, it reaches the list of models alone. */
const CHATS = ["/v1/chat/completions", "/v1/responses", "/v1/messages"];
const LISTS = /^\/v1\/models(?:\/|$)/;
/** Of runs that are sampled. */
const TEMPERATURE = 0.7;

/** What went through a gate. Tokens are those of all requests together. */
export interface Heard {
  turns: number;
  prompt_tokens: number;
  completion_tokens: number;
  /** Why the last request got no answer; null where it got one. */
  refused: { readonly code: string; readonly message: string } | null;
}

export interface Gate {
  readonly port: number;
  readonly heard: Heard;
  close(): Promise<void>;
}

interface GateOptions {
  readonly service: { readonly url: string; readonly token: string | null };
  /** Whose the recorded sessions are, and what their ids begin with. */
  readonly agent: string;
  readonly group: string;
  /** What answers, whatever the agent asks for. */
  readonly model: string;
  /** 0: the likeliest token; else what is sampled with that seed. */
  readonly seed: number;
  readonly turns: number;
  /** Called when an agent asks once more than it may. */
  readonly onFull: () => void;
}

type Fields = Readonly<Record<string, unknown>>;

/** A request as it is sent on: only completions take a seed, and tell the tokens of a stream when asked. */
function sentOn(api: string, body: Fields, { model, seed }: Pick<GateOptions, "model" | "seed">): Fields {
  const settled = { ...body, model, temperature: seed === 0 ? 0 : TEMPERATURE };
  if (api !== "/v1/chat/completions") return settled;
  const streamed = body.stream === true && { stream_options: { ...(body.stream_options as Fields), include_usage: true } };
  return { ...settled, ...streamed, ...(seed > 0 && { seed }) };
}

const lastNumber = (text: string, name: RegExp): number => {
  const found = [...text.matchAll(new RegExp(`"(?:${name.source})":\\s*(\\d+)`, "g"))].at(-1);
  return Number(found?.[1] ?? 0);
};

const refusalIn = (text: string): Heard["refused"] => {
  const code = /"code":\s*"(\w+)"/.exec(text)?.[1] ?? "unknown";
  const message = /"(?:message|detail)":\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return { code, message: message === undefined ? text.slice(0, 300) : (JSON.parse(message) as string) };
};

async function textOf(stream: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

/**
 * A way to the service for one agent at one task, on a port of this machine: it holds the service's token, so that the agent has none,
 * fixes the model and the sampling, has the conversation recorded, and counts.
 */
export async function openGate(options: GateOptions): Promise<Gate> {
  const { service, agent, group, turns, onFull } = options;
  const heard: Heard = { turns: 0, prompt_tokens: 0, completion_tokens: 0, refused: null };
  const { request: send } = service.url.startsWith("https:") ? https : http;
  const headers = {
    "content-type": "application/json",
    "x-imprint-record": "1",
    "x-imprint-agent": agent,
    "x-imprint-group": group,
    ...(service.token !== null && { authorization: `Bearer ${service.token}` }),
  };

  const refuse = (response: ServerResponse, status: number, message: string): void => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message, type: "invalid_request_error", code: "task" } }));
  };

  const note = (status: number, text: string): void => {
    if (status >= 400) {
      heard.refused = refusalIn(text);
      return;
    }
    heard.refused = null;
    heard.turns += 1;
    heard.prompt_tokens += lastNumber(text, /prompt_tokens|input_tokens/);
    heard.completion_tokens += lastNumber(text, /completion_tokens|output_tokens/);
  };

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // Read as a URL is: a path may lead elsewhere than it looks.
    const { pathname: path, search } = new URL(request.url ?? "/", "http://gate");
    const isChat = request.method === "POST" && CHATS.includes(path);
    if (!isChat && !(request.method === "GET" && LISTS.test(path))) return refuse(response, 404, "A task has no way there.");
    if (isChat && heard.turns >= turns) {
      refuse(response, 403, `The task ends after ${turns} turns.`);
      return onFull();
    }
    const text = await textOf(request);
    const body = isChat ? JSON.stringify(sentOn(path, JSON.parse(text) as Fields, options)) : undefined;
    const onward = send(`${service.url.replace(/\/$/, "")}${path}${search}`, { method: request.method, headers });
    response.on("close", () => onward.destroy());
    onward.end(body);
    const [answer] = (await once(onward, "response")) as [IncomingMessage];
    const pieces: Buffer[] = [];
    answer.on("data", (piece: Buffer) => pieces.push(piece));
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    await pipeline(answer, response);
    if (isChat) note(answer.statusCode ?? 500, Buffer.concat(pieces).toString("utf8"));
  };

  const server = http.createServer((request, response) => {
    pass(request, response).catch((error: Error) => {
      // Of an agent that was ended, nobody listens any more.
      if (response.destroyed) return;
      heard.refused = { code: "unreachable", message: error.message };
      if (response.headersSent) response.destroy();
      else refuse(response, 502, error.message);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    heard,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
