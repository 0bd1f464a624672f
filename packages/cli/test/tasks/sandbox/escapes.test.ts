import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { homedir, networkInterfaces } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { none } from "../../../src/tasks/sandbox/none.js";
import type { Sandbox, SandboxEnd, SandboxRequest } from "../../../src/tasks/sandbox.js";
import { BUBBLEWRAP, emptyFolder, LIMITS, toolchainsIn, writeFiles } from "../support.js";

vi.setConfig({ testTimeout: 60_000 });

const run = async (sandbox: Sandbox, command: string, more: Partial<SandboxRequest> = {}): Promise<SandboxEnd> =>
  sandbox.run({ command: ["sh", "-c", command], workspace: await emptyFolder(), port: null, limits: LIMITS, ...more });

/** What runs on this machine with a word in its command line or environment. */
const running = (word: string): readonly number[] =>
  readdirSync("/proc").flatMap((name) => {
    try {
      const text = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/cmdline`, "utf8") : "";
      return text.includes(word) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });

const endAll = (word: string): void => {
  for (const pid of running(word)) process.kill(pid, "SIGKILL");
};

/** Seconds that no other test sleeps: a command line with them is this test's. */
const marker = (): string => `${100_000 + Math.floor(Math.random() * 800_000)}.5`;

async function listener(host: string): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.end("host says hello"));
  server.listen(host.startsWith("\0") ? host : { host, port: 0 });
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { server, port: (server.address() as AddressInfo).port };
}

/** Says what it hears there, or why it hears nothing. */
const CONNECT = `const s = require("net").connect(JSON.parse(process.argv[1])); s.on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code));`;
const hears = async (sandbox: Sandbox, to: object, more: Partial<SandboxRequest> = {}): Promise<string> => {
  const command = [process.execPath, "-e", CONNECT, JSON.stringify(to)] as const;
  return (await run(sandbox, "", { command, ...more })).stdout.trim();
};

it("the controls see what a sandbox must stop: without one it happens", async () => {
  const { port } = await listener("127.0.0.1");
  expect(await hears(none, { port, host: "127.0.0.1" })).toBe("host says hello");
  const home = await emptyFolder(homedir());
  await writeFiles(home, { secret: "of the host" });
  expect((await run(none, `cat ${home}/secret && touch ${home}/new && test -e /etc/shadow`)).stdout).toBe("of the host");
  expect(await readdir(home)).toContain("new");
  const word = marker();
  onTestFinished(() => endAll(word));
  await run(none, `setsid sh -c 'touch begun; exec sleep ${word}' > /dev/null 2>&1 & until test -e begun; do :; done`);
  await vi.waitFor(() => expect(running(word)).toHaveLength(1));
});

it.each(BUBBLEWRAP)("$name shows what Go and Rust fetched to be read, and no token beside it", async (sandbox) => {
  const home = await emptyFolder();
  toolchainsIn(home);
  await writeFiles(home, {
    "GOMODCACHE/example.org/module@v1.0.0/go.mod": "module example.org/module",
    "CARGO_HOME/bin/fetched": "#!/bin/sh\ncat $CARGO_HOME/registry/crate $GOMODCACHE/example.org/*/go.mod",
    "CARGO_HOME/registry/crate": "a crate of ",
    "CARGO_HOME/credentials.toml": "a token",
  });
  await chmod(path.join(home, "CARGO_HOME/bin/fetched"), 0o755);
  vi.stubEnv("PATH", `${home}/CARGO_HOME/bin:${process.env.PATH}`);
  const ended = await run(sandbox, "fetched; cat $CARGO_HOME/credentials.toml || touch $GOMODCACHE/new; echo $RUSTUP_HOME");
  expect(ended.stdout).toBe("a crate of module example.org/module\n");
  expect(ended.stderr).toMatch(/credentials.toml.*\n.*new.*read-only/i);
});

describe.each(BUBBLEWRAP)("$name stops", (sandbox) => {
  it("connections to this machine, to its other addresses, to abstract sockets and to others", async () => {
    const { port } = await listener("127.0.0.1");
    expect(await hears(sandbox, { port, host: "127.0.0.1" })).toBe("ECONNREFUSED");
    const own = Object.values(networkInterfaces()).flatMap((all) =>
      (all ?? []).filter((one) => !one.internal && one.family === "IPv4"),
    );
    for (const { address: host } of own) {
      const there = await listener(host);
      expect(await hears(none, { port: there.port, host })).toBe("host says hello");
      expect(await hears(sandbox, { port: there.port, host })).toBe("ENETUNREACH");
    }
    const abstract = `\0imprint-${marker()}`;
    await listener(abstract);
    expect(await hears(none, { path: abstract })).toBe("host says hello");
    expect(await hears(sandbox, { path: abstract })).toBe("ECONNREFUSED");
    expect(await hears(sandbox, { port: 443, host: "192.0.2.1" })).toBe("ENETUNREACH"); // RFC 5737: nobody's
  });

  it("all connections but those to the one port, where one is given", async () => {
    const { port } = await listener("127.0.0.1");
    const other = await listener("127.0.0.1");
    expect(await hears(sandbox, { port, host: "127.0.0.1" }, { port })).toBe("host says hello");
    expect(await hears(sandbox, { port: other.port, host: "127.0.0.1" }, { port })).toBe("ECONNREFUSED");
    expect(await hears(sandbox, { port: 443, host: "192.0.2.1" }, { port })).toBe("ENETUNREACH");
  });

  it("reading of passwords, homes, other folders and the environment of who runs it", async () => {
    const [home, other] = [await emptyFolder(homedir()), await emptyFolder()];
    await Promise.all([home, other].map((folder) => writeFiles(folder, { secret: "of the host" })));
    for (const place of [
      "/etc/shadow",
      "/etc/ssh",
      `${home}/secret`,
      `${other}/secret`,
      "/var/log",
      "/run/dbus",
      "/boot",
      "/sys/class",
    ])
      expect([place, (await run(sandbox, `cat ${place} || ls ${place}`)).code]).not.toEqual([place, 0]);
    expect((await run(sandbox, `ls -A ${path.dirname(home)} /tmp /home`)).stdout).not.toContain(path.basename(home));
    toolchainsIn();
    process.env.IMPRINT_TEST_SECRET = "of the host";
    onTestFinished(() => void delete process.env.IMPRINT_TEST_SECRET);
    expect((await run(sandbox, "env", { env: { GIVEN: "yes" } })).stdout.match(/^\w+(?==)/gm)?.sort()).toEqual([
      "GIVEN",
      "HOME",
      "PATH",
      "PWD",
      "TMPDIR",
    ]);
  });

  it("reading of other processes: their environments, and that they are there", async () => {
    const word = marker();
    const child = spawn("sleep", ["1000"], { env: { ...process.env, SECRET: word } });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child, "spawn");
    const look = "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a ^SECRET=";
    await vi.waitFor(async () => expect((await run(none, look)).stdout).toContain(word));
    expect((await run(sandbox, look)).stdout).toBe("");
    expect(Number((await run(sandbox, "ls -d /proc/[0-9]* | wc -l")).stdout)).toBeLessThan(8);
  });

  it("writing outside the workspace, in the system and through links, and writes in the workspace", async () => {
    const [outside, readable, workspace] = [await emptyFolder(), await emptyFolder(), await emptyFolder()];
    await symlink(outside, path.join(workspace, "link"));
    for (const place of [outside, readable, "link", "/", "/etc", "/usr", "/usr/bin", "/dev", "/proc/sys/kernel", homedir()])
      expect([place, (await run(sandbox, `touch ${place}/new`, { workspace, readable: [readable] })).code]).toEqual([place, 1]);
    await run(sandbox, "mkdir -p /tmp/x && echo yes > here && echo no > /tmp/x/here", { workspace });
    expect([await readdir(outside), await readdir(readable), (await readdir(workspace)).sort()]).toEqual([
      [],
      [],
      ["here", "link"],
    ]);
  });

  it("a user namespace of its own, in which it would be root and could mount", async () => {
    for (const way of [
      "unshare --user true",
      "unshare --user --map-root-user --mount true",
      "unshare --net true",
      "mount -t tmpfs none /tmp",
    ])
      expect([way, (await run(sandbox, way)).code]).not.toEqual([way, 0]);
    expect((await run(sandbox, "grep CapEff /proc/self/status")).stdout).toBe("CapEff:\t0000000000000000\n");
  });

  it("a link that the command leaves, when the result is read: it is a link outside as well", async () => {
    const workspace = await emptyFolder();
    await run(sandbox, "ln -s /etc/passwd passwd && cat passwd", { workspace });
    expect((await run(sandbox, "cat passwd", { workspace })).stdout).toMatch(/^agent:x:1000:1000::[^\n]*\n$/);
    expect(await readFile(path.join(workspace, "passwd"), "utf8")).not.toMatch(/^agent:/);
  });

  it("a fork bomb, and nothing of it runs on", async () => {
    const word = marker();
    const bomb = `f() { sleep ${word} & f | f & }; f; sleep ${word}`;
    expect(await run(sandbox, bomb)).toMatchObject({ code: null, stopped: "processes" });
    expect(running(word)).toEqual([]);
    // Fewer processes than the limit end by themselves.
    expect(await run(sandbox, "for i in $(seq 40); do sleep 1 & done; wait")).toMatchObject({ code: 0, stopped: null });
  });

  it("a process that takes all memory, and lets another take what it may", async () => {
    const take = (megabytes: number): string =>
      `node -e "const b = []; for (let i = 0; i < ${megabytes / 10}; i++) b.push(Buffer.alloc(1e7, 1)); setTimeout(() => b.length, 500)"`;
    expect(await run(sandbox, take(20_000))).toMatchObject({ code: null, stopped: "memory" });
    expect(await run(sandbox, take(200))).toMatchObject({ code: 0, stopped: null });
  });

  it("a file of 10 GB, written or sparse, and a file system in memory from growing", async () => {
    const workspace = await emptyFolder();
    const size = "stat -c %s big 2>/dev/null || echo 0";
    for (const write of [
      "head -c 10G /dev/zero > big",
      "truncate -s 10G big",
      "cd /tmp; head -c 10G /dev/zero > big",
      "cd /dev/shm; head -c 10G /dev/zero > big",
    ]) {
      const { stdout, stopped } = await run(
        sandbox,
        `(${write}); ${write.includes(";") ? `${write.split(";")[0]};` : ""} ${size}`,
        { workspace },
      );
      expect([write, stopped, Number(stdout) <= LIMITS.fileMb * 2 ** 20, stdout]).toEqual([
        write,
        null,
        true,
        expect.stringMatching(/^\d+\n$/),
      ]);
    }
    expect((await run(sandbox, `head -c 20M /dev/zero > small && ${size.replaceAll("big", "small")}`)).stdout).toBe(
      `${20 * 2 ** 20}\n`,
    );
  });

  it("many files that together take more than four may", async () => {
    expect(await run(sandbox, "i=0; while :; do i=$((i+1)); head -c 20M /dev/zero > $i; done")).toMatchObject({
      code: null,
      stopped: "disk",
    });
    expect(
      await run(sandbox, "i=0; while [ $i -lt 5 ]; do i=$((i+1)); head -c 20M /dev/zero > $i; done; sleep 1.2"),
    ).toMatchObject({ code: 0 });
  });

  it("what was started in the background, in whatever way, when the command ends", async () => {
    const word = marker();
    const sleeps = (name: string): string => `sh -c "touch ${name}; sleep ${word}"`;
    const quiet = "> /dev/null 2>&1 < /dev/null &";
    const ways = [
      `${sleeps("a")} &`,
      `nohup ${sleeps("b")} ${quiet}`,
      `setsid ${sleeps("c")} ${quiet}`,
      `(setsid sh -c '${sleeps("d")} & ${sleeps("e")}' ${quiet})`,
    ];
    const end = await run(
      sandbox,
      `trap '' HUP TERM INT; ${ways.join("\n")}\nuntil test -e a -a -e b -a -e c -a -e d -a -e e; do :; done; echo begun`,
    );
    expect(end).toMatchObject({ code: 0, stdout: "begun\n" });
    expect(running(word)).toEqual([]);
  });

  it("what hangs and ignores signals, after its seconds, or with the signal", async () => {
    const word = marker();
    const hang = `trap '' HUP TERM INT; echo begun; sleep ${word}; sleep ${word}`;
    expect(await run(sandbox, hang, { limits: { ...LIMITS, seconds: 1 } })).toMatchObject({
      code: null,
      stopped: "seconds",
      stdout: "begun\n",
    });
    const abort = new AbortController();
    const ending = run(sandbox, hang, { signal: abort.signal });
    await vi.waitFor(() => expect(running(word)).not.toEqual([]));
    abort.abort();
    expect(await ending).toMatchObject({ code: null, stopped: "aborted" });
    expect(running(word)).toEqual([]);
  });

  it("all of it when who started it is killed", async () => {
    const word = marker();
    const [workspace, own] = [await emptyFolder(), await emptyFolder()];
    const { bubblewrapArguments } = await import("../../../src/tasks/sandbox/bubblewrap.js");
    const { ownFiles } = await import("../../../src/tasks/sandbox/inside.js");
    for (const [place, text] of Object.entries(ownFiles({ uid: 1000, gid: 1000 })))
      await writeFile(path.join(own, path.basename(place)), text);
    const args = bubblewrapArguments({ command: ["setsid", "sleep", word], workspace, port: null, limits: LIMITS }, own);
    const starter = `require("child_process").spawn("bwrap", JSON.parse(process.argv[1]), { stdio: ["ignore", "ignore", "ignore", "pipe"] }); setInterval(() => 1, 1e6)`;
    const parent: ChildProcess = spawn(process.execPath, ["-e", starter, JSON.stringify(args)], {
      env: { ...process.env, HOME: "/tmp" },
    });
    onTestFinished(() => endAll(word));
    const sleeps = (): boolean =>
      running(word).some((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${word}\0`);
    await vi.waitFor(() => expect(sleeps()).toBe(true), { timeout: 10_000 });
    parent.kill("SIGKILL");
    await vi.waitFor(() => expect(running(word)).toEqual([]), { timeout: 10_000 });
  });

  it("nothing that a program needs: Node, Python, git, temporary files, who it is, and its own exit code and last words", async () => {
    const works = [
      "node -e 'console.log(require(\"os\").userInfo().username)'",
      "python3 -c 'import multiprocessing, tempfile; multiprocessing.Lock(); tempfile.TemporaryFile(); print(\"py\")'",
      "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --format=%s",
      "pwd; whoami; cd; pwd",
    ];
    const workspace = await emptyFolder();
    expect(await run(sandbox, works.join(" && "), { workspace })).toMatchObject({
      stdout: `agent\npy\nx\n${workspace}\nagent\n/tmp/home\n`,
    });
    const end = await run(sandbox, "head -c 1000000 /dev/zero | tr '\\0' x; echo last; echo words >&2; exit 7");
    expect([end.code, end.stdout.length, end.stdout.slice(-6), end.stderr]).toEqual([7, 64 * 1024, "xlast\n", "words\n"]);
    await expect(run(sandbox, "true", { workspace: "/nowhere/at/all" })).rejects.toThrow("bubblewrap did not start the command");
  });
});
