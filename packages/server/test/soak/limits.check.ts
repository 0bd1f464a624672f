import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { sendRecording } from "../simulate/operations.js";
import { build, memoryOf } from "../support/process.js";
import { makeFolder } from "../support/service.js";
import { QUICK, TRAINING } from "./work.js";
import { type Killable, startKillable } from "./world.js";

beforeAll(build, 120_000);
const MINUTES = 60_000;

const importOne = async (world: Killable, id: string): Promise<number> => (await sendRecording(world, id, 2)).status;

const train = async ({ client }: Killable, adapter_id: string): Promise<string> => {
  const request = { session_id: "learned", adapter_id, ...QUICK };
  return (await client.train.lora(request)).job_id;
};

/** A data directory on a disk of its own, that only root can make. */
const makeSmallDisk = (folder: string): { readonly fill: () => void; readonly empty: () => void } => {
  const data = join(folder, "data");
  mkdirSync(data);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m,mode=0700", "tmpfs", data]);
  onTestFinished(() => void execFileSync("umount", ["--lazy", data]));
  const ballast = join(data, "ballast");
  const fill = (): void => {
    const file = openSync(ballast, "a");
    for (const size of [1 << 20, 1 << 12])
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch (error) {
        expect(error).toMatchObject({ code: "ENOSPC" });
      }
    closeSync(file);
  };
  return { fill, empty: () => rmSync(ballast) };
};

test("a disk that is full from any phase of a training on fails that job alone, by that name, and leaves nothing half", {
  timeout: 10 * MINUTES,
}, async () => {
  const folder = makeFolder();
  const disk = makeSmallDisk(folder);
  const world = await startKillable(folder);
  const { client, dataDir } = world;
  expect(await importOne(world, "learned")).toBe(201);
  const whole: string[] = [];
  for (const phase of TRAINING) {
    const job = await train(world, phase.replace("_", "-"));
    await vi.waitFor(
      async () => {
        const now = await client.jobs.details(job);
        if (now.phase !== phase && now.finished_at === null) throw new Error(`${now.phase}, and not ${phase}`);
      },
      { timeout: MINUTES, interval: 2 },
    );
    disk.fill();
    const { status, error, adapter_id } = await client.jobs.waitFor(job);
    console.log(`full from ${phase} on: ${status} ${error?.code ?? ""}`);
    if (adapter_id === null) expect(error).toMatchObject({ code: "DISK_FULL" });
    else whole.push(adapter_id);
    disk.fill(); // what the job left is removed
    expect(await importOne(world, `while-${phase}`)).toBe(507);
    expect(await client.sessions.get("learned")).toMatchObject({ assistant_turns: 2 });
    disk.empty();
    expect(readdirSync(join(dataDir, "adapters", ".staging"))).toEqual([]);
    expect((await client.adapters.list()).adapters.map((one) => one.adapter_id).sort()).toEqual(whole.sort());
    for (const adapter of whole) expect(await client.adapters.verify(adapter)).toMatchObject({ health: "ok" });
  }
  expect(await client.jobs.waitFor(await train(world, "last"))).toMatchObject({ status: "completed", adapter_id: "last" });
  expect(world.slowest()).toBeLessThan(500);
  await world.kill("service");
});

/** So many connections that ask nothing, or `begin` something and never end it. */
const connect = async (world: Killable, count: number, begin = ""): Promise<readonly Socket[]> => {
  const port = Number(new URL(world.service.url).port);
  const sockets = Array.from({ length: count }, () => createConnection(port, "127.0.0.1").on("error", () => {}));
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  for (const socket of sockets) if (begin !== "") socket.pause().write(begin);
  return sockets;
};

test("1,000 idle connections and 200 slow ones delay nobody", { timeout: 2 * MINUTES }, async () => {
  const world = await startKillable(makeFolder());
  expect(await importOne(world, "before")).toBe(201);
  const before = memoryOf(world.service);
  const host = new URL(world.service.url).host;
  const upload = `POST /sessions HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/x-ndjson\r\ncontent-length: 1000000\r\n\r\n{`;
  await connect(world, 1_000);
  const slow = await connect(world, 100, upload);
  await connect(world, 100, `GET /jobs/events HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  for (let round = 0; round < 100; round += 1) {
    for (const socket of slow) socket.write(" ");
    expect(await importOne(world, `meanwhile-${round}`)).toBe(201);
  }
  const grown = (memoryOf(world.service) - before) / 1024 ** 2;
  console.log(`slowest health check: ${Math.round(world.slowest())} ms, ${Math.round(grown)} MB more`);
  expect(world.slowest()).toBeLessThan(500);
  expect(grown).toBeLessThan(150);
  await world.kill("service");
});

test("a service without a free descriptor answers again once there are, and stored all or nothing", {
  timeout: 2 * MINUTES,
}, async () => {
  const world = await startKillable(makeFolder(), { limit: "-n 96" });
  const [stored, unanswered]: [string[], string[]] = [[], []];
  for (let round = 0; round < 3; round += 1) {
    const sockets = await connect(world, 200);
    for (let one = 0; one < 20; one += 1) {
      const id = `round-${round}-${one}`;
      // Its connection waits for a descriptor, or is closed.
      const status = await Promise.race([importOne(world, id).catch(() => null), delay(1_000, null)]);
      if (status === 201) stored.push(id);
      else if (status === null) unanswered.push(id);
      else expect(status).toBeGreaterThanOrEqual(500);
    }
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(async () => expect(await importOne(world, `after-${round}`)).toBe(201), { timeout: 10_000 });
    stored.push(`after-${round}`);
  }
  const { sessions } = await world.client.sessions.list({ limit: 100 });
  const listed = sessions.map(({ session_id }) => session_id).filter((id) => !unanswered.includes(id));
  expect(listed.sort()).toEqual(stored.sort());
  for (const { session_id } of sessions) expect((await world.client.sessions.content(session_id)).steps).toHaveLength(4);
  console.log(`of 60 imports without a free descriptor ${unanswered.length} were not answered, ${stored.length - 3} were stored`);
  await world.kill("service");
});
