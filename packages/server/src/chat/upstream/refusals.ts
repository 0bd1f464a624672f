import { type ErrorCode, isObject } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";

const SHOWN = 600; // characters of what an upstream says

/** A server that may be there again in a while. `cause` is what Node says: no header, no token. */
export const unreachable = (host: string, cause: unknown): ImprintError => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : cause instanceof Error ? cause.message : "";
  return new ImprintError("UPSTREAM_UNREACHABLE", `${host} does not answer (${code}).`, { cause });
};

interface Refusal {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfter?: string | undefined;
}

/**
 * What a server says is wrong: OpenAI's `{error: {message}}`, vLLM's older `{message}`, FastAPI's `{detail}`, SGLang's
 * `{error_message}`, or text.
 */
const said = (body: unknown): string => {
  const error = isObject(body) ? (body.error ?? body) : body;
  const found = isObject(error) ? (error.message ?? error.error_message ?? error.detail) : error;
  const text = typeof found === "string" ? found : JSON.stringify(found ?? "");
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
};

const number = (value: unknown): number | null => (typeof value === "number" && Number.isInteger(value) ? value : null);

/**
 * A prompt that does not fit, in the words that agents look for; null for another refusal. llama-server says numbers
 * (`exceed_context_size_error`), OpenAI a code, vLLM and SGLang a sentence.
 */
const overflow = (body: unknown, text: string): string | null => {
  const error = isObject(body) && isObject(body.error) ? body.error : isObject(body) ? body : {};
  const sentence = /maximum context length (?:is|of) (\d+)|context length \((\d+)|longer than the model'?s context/i.exec(text);
  const known = error.code === "context_length_exceeded" || error.type === "exceed_context_size_error" || sentence !== null;
  if (!known) return null;
  const most = number(error.n_ctx) ?? Number(sentence?.[1] ?? sentence?.[2] ?? Number.NaN);
  const asked = number(error.n_prompt_tokens);
  const limit = Number.isNaN(most) ? "" : ` This model's maximum context length is ${most} tokens.`;
  const lengths = asked === null || Number.isNaN(most) ? "" : `: ${asked} tokens > ${most - 1} maximum`;
  return `The prompt is too long${lengths}.${limit} ${text}`;
};

const codeOf = (status: number): ErrorCode => {
  if (status === 401 || status === 403) return "UPSTREAM_UNAUTHORIZED";
  if (status === 429) return "UPSTREAM_BUSY";
  if (status === 404) return "NOT_FOUND";
  // Behind a proxy the server itself is away.
  if (status === 502 || status === 503 || status === 504) return "UPSTREAM_UNREACHABLE";
  return status >= 400 && status < 500 ? "PROMPT_REFUSED" : "UPSTREAM_FAILED";
};

/** An answer that is no good one as an error of the catalogue, in the upstream's own words. */
export const refusalOf = (host: string, { status, body, retryAfter }: Refusal): ImprintError => {
  const text = said(body);
  const tooLong = status === 400 || status === 413 || status === 422 ? overflow(body, text) : null;
  if (tooLong !== null) return new ImprintError("CONTEXT_LENGTH_EXCEEDED", tooLong);
  const seconds = /^\d{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) : null;
  return new ImprintError(codeOf(status), `${host} answers ${status}: ${text}`, { retryAfter: seconds });
};

/** An error object in the middle of a stream. */
export const brokenOff = (host: string, error: unknown): ImprintError => {
  const text = said({ error });
  const tooLong = overflow({ error }, text);
  return tooLong === null
    ? new ImprintError("UPSTREAM_FAILED", `${host} broke its answer off: ${text}`)
    : new ImprintError("CONTEXT_LENGTH_EXCEEDED", tooLong);
};
