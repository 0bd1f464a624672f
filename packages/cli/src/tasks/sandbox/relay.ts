import { connect, createServer, type Socket } from "node:net";
import { pipeline } from "node:stream";

export interface Relay {
  close(): void;
}

/** Joins two connections: the end of either ends the other. */
function join(one: Socket, other: Socket): void {
  const ignore = (): void => undefined;
  pipeline(one, other, ignore);
  pipeline(other, one, ignore);
}

/** Listens on a Unix socket and joins what connects there to a port of this machine. */
export function openRelay(socket: string, port: number): Promise<Relay> {
  const open = new Set<Socket>();
  const server = createServer((inside) => {
    const outside = connect(port, "127.0.0.1");
    for (const one of [inside, outside]) {
      open.add(one);
      one.on("close", () => open.delete(one));
    }
    join(inside, outside);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(socket, () =>
      resolve({
        close: () => {
          server.close();
          for (const one of open) one.destroy();
        },
      }),
    );
  });
}

/**
 * What Node runs in the sandbox, with the port, the socket and the command as arguments: it listens on the port, joins what connects to
 * the socket, and runs the command once it listens.
 */
export const INSIDE = `
const { connect, createServer } = require("node:net");
const { spawn } = require("node:child_process");
const { pipeline } = require("node:stream");
const [port, socket, program, ...args] = process.argv.slice(1);
createServer((one) => {
  const other = connect(socket);
  pipeline(one, other, () => {});
  pipeline(other, one, () => {});
}).listen(Number(port), "127.0.0.1", () => {
  const child = spawn(program, args, { stdio: "inherit" });
  child.on("error", (error) => {
    console.error(error.message);
    process.exit(127);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + require("node:os").constants.signals[signal]));
});
`;
