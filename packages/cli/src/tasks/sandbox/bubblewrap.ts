import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Sandbox, SandboxRequest } from "../sandbox.js";
import { spawnWithin } from "./spawn.js";

/** Inside: what listens on the port leads to the socket, which leads out. */
const BRIDGE = `
const net = require("node:net");
const [socket, port, program, ...args] = process.argv.slice(1);
const server = net.createServer((one) => {
  const other = net.connect(socket);
  one.pipe(other).pipe(one);
  for (const end of [one, other]) end.on("error", () => { one.destroy(); other.destroy(); });
});
server.listen(Number(port), "127.0.0.1", () => {
  const child = require("node:child_process").spawn(program, args, { stdio: "inherit" });
  child.on("error", (error) => { console.error(error.message); process.exit(127); });
  child.on("exit", (code, signal) => process.exit(code ?? 128));
});
`;

function args({ workspace, readable = [], env = {} }: SandboxRequest, more: readonly string[]): readonly string[] {
  return [
    ...["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"],
    ...["--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"],
    ...["bin", "sbin", "lib", "lib64"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`]),
    ...["--dir", "/tmp/home", "--setenv", "HOME", "/tmp/home", "--setenv", "TMPDIR", "/tmp"],
    ...["--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin"],
    ...readable.flatMap((one) => ["--ro-bind", one, one]),
    ...more,
    ...["--bind", workspace, workspace, "--chdir", workspace],
    ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
  ];
}

export const bubblewrap: Sandbox = {
  name: "bubblewrap",
  run: async (request) => {
    const { port, command } = request;
    const env = { PATH: process.env.PATH ?? "" };
    if (port === null) return spawnWithin(["bwrap", ...args(request, []), "--", ...command], request, env);
    const folder = await mkdtemp(path.join(tmpdir(), "imprint-way-"));
    const socket = path.join(folder, "socket");
    const server = net.createServer((one) => {
      const other = net.connect(port, "127.0.0.1");
      one.pipe(other).pipe(one);
      for (const end of [one, other])
        end.on("error", () => {
          one.destroy();
          other.destroy();
        });
    });
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    try {
      const inside = [process.execPath, "-e", BRIDGE, socket, String(port), ...command];
      return await spawnWithin(["bwrap", ...args(request, ["--ro-bind", folder, folder]), "--", ...inside], request, env);
    } finally {
      server.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
};
