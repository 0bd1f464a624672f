import { rm } from "node:fs/promises";
import { CannotStartError, ConfigError, codeOf } from "../common/error.js";
import type { Settings } from "../config/schema.js";
import { writeAtomically } from "../storage/durable.js";
import type { DataPaths } from "../storage/paths.js";
import type { App } from "./app.js";

/** Whoever holds the address is asked this long who it is. */
const ASK_MS = 500;

export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;

const isImprint = async (url: string): Promise<boolean> => {
  try {
    const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(ASK_MS), redirect: "error" });
    return ((await answer.json()) as { readonly service?: unknown }).service === "imprint";
  } catch {
    return false;
  }
};

/** What keeps the service from listening, as a sentence that says how to go on. Other errors are answered as they are. */
export const explainListen = async (error: unknown, { host, port }: Pick<Settings, "host" | "port">): Promise<unknown> => {
  const at = urlOf(host, port).slice("http://".length);
  const elsewhere = "choose another port with --port, or any free one with --port 0.";
  switch (codeOf(error)) {
    case "EADDRINUSE": {
      // A wide bind answers on loopback too.
      const everywhere = host === "0.0.0.0" || host === "::";
      const other = await isImprint(urlOf(everywhere ? "127.0.0.1" : host, port));
      return new CannotStartError(
        `${at} is taken: ${other ? "another service of Imprint answers there. Use it with --url, or" : "another program listens there:"} ${elsewhere}`,
      );
    }
    case "EACCES":
      return new ConfigError([`This user may not listen on ${at}: ${elsewhere}`]);
    case "EADDRNOTAVAIL":
      return new ConfigError([`${host} is not an address of this machine: choose another with --host.`]);
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new ConfigError([`${host} is not the name of an address: choose another with --host.`]);
    default:
      return error;
  }
};

/**
 * Listens, and answers with the port.
 * @throws CannotStartError or ConfigError that names the address
 */
export const listen = async (app: App, settings: Pick<Settings, "host" | "port">): Promise<number> => {
  const { host, port } = settings;
  try {
    await app.listen({ host, port, listenTextResolver: () => "listening" });
  } catch (error) {
    throw await explainListen(error, settings);
  }
  const address = app.server.address();
  return typeof address === "object" && address !== null ? address.port : port;
};

/** Leaves the address of the service for commands to find. The answer takes it away again. */
export const announceAddress = async ({ serverFile }: DataPaths, url: string): Promise<() => Promise<void>> => {
  await writeAtomically(serverFile, `${JSON.stringify({ url, pid: process.pid })}\n`);
  return () => rm(serverFile, { force: true });
};
