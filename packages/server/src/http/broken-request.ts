import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { ERRORS, type ErrorCode } from "@imprint/contracts";
import { ProblemError } from "../common/error.js";
import { errorBody } from "./error-body.js";
import { SECURITY_HEADERS } from "./headers.js";

/** Node's own refusals in the catalogue's words. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "REQUEST_INCOMPLETE",
  HPE_HEADER_OVERFLOW: "HEADERS_TOO_LARGE",
};

/** Answers a request that never became one, and ends its connection. */
export const refuseOnSocket = (socket: Socket, code: ErrorCode, url: string): void => {
  const { status, type, body } = errorBody(new ProblemError(code, ERRORS[code].hint), { url, requestId: randomUUID() });
  const text = JSON.stringify(body);
  const headers = { ...SECURITY_HEADERS, "content-type": type, "content-length": Buffer.byteLength(text), connection: "close" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${text}`, () => socket.destroy());
};

/** What Node cannot read, as Fastify's `clientErrorHandler`. The first line says who asks, when it is in what Node read last. */
export const refuseBrokenRequest = (
  error: Error & { readonly code: string; readonly rawPacket: unknown },
  socket: Socket,
): void => {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const sent = Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString("latin1", 0, 100) : "";
  const [, url = "/"] = /^[A-Z]+ (\/\S*)/.exec(sent) ?? [];
  refuseOnSocket(socket, CODES[error.code] ?? "BAD_REQUEST", url);
};
