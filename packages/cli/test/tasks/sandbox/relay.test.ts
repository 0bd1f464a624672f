import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { INSIDE, openRelay } from "../../../src/tasks/sandbox/relay.js";
import { emptyFolder } from "../support.js";

/** A port that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

/** What a script of Node prints whose requests to PORT go through both ends of the relay to a port of this machine; and its exit code. */
async function through(port: number, script: string): Promise<{ said: string; code: number }> {
  const socket = path.join(await emptyFolder(), "relay.sock");
  const relay = await openRelay(socket, port);
  onTestFinished(() => relay.close());
  const inside = String(await freePort());
  const args = ["-e", INSIDE, "--", inside, socket, process.execPath, "-e", script.replaceAll("PORT", inside)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return { said, code };
}

it("carries requests and answers whole, several at once, and hands on the command's exit code", async () => {
  const server = createServer(async (request, response) => response.end((await text(request)).toUpperCase())).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const ask = `fetch("http://127.0.0.1:PORT/", { method: "POST", body: "a".repeat(3e6) + i }).then((r) => r.text())`;
  const script = `Promise.all([0, 1, 2].map((i) => ${ask})).then((all) => { console.log(all.map((one) => [one.length, one.slice(-2)].join(" ")).join()); process.exit(7); })`;
  const { port } = server.address() as AddressInfo;
  expect(await through(port, script)).toEqual({ said: "3000001 A0,3000001 A1,3000001 A2\n", code: 7 });
});

it("ends a connection where nothing answers outside, and goes on", async () => {
  const ask = `new Promise((next) => require("net").connect(PORT, "127.0.0.1").on("close", () => next(console.log("closed"))).resume())`;
  expect(await through(await freePort(), `const ask = () => ${ask}; ask().then(ask)`)).toEqual({
    said: "closed\nclosed\n",
    code: 0,
  });
});
