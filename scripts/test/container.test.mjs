import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { run } from "../lib/process/run.mjs";

const root = join(import.meta.dirname, "..", "..");
const read = (name) => readFileSync(join(root, name), "utf8");

/** The instructions of a Dockerfile, each as [name, rest], lines joined. */
const instructions = read("Dockerfile")
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll("\\\n", " ")
  .split("\n")
  .filter(Boolean)
  .map((line) => /^([A-Z]+) +(.*)$/.exec(line).slice(1));
const all = (name) => instructions.filter(([one]) => one === name).map(([, rest]) => rest);
const last = (name) => all(name).at(-1);

const { imprint } = parse(read("compose.yaml")).services;
const health = JSON.parse(last("HEALTHCHECK").replace(/^.*CMD /, ""));

it("the image runs as nobody special, and tells Docker what it listens on and where its data are", () => {
  expect(Number(last("USER"))).toBeGreaterThan(0);
  expect(JSON.parse(last("CMD"))).toEqual(["serve", "--host", "0.0.0.0"]);
  expect(imprint.ports).toEqual([`127.0.0.1:${last("EXPOSE")}:${last("EXPOSE")}`]);
  expect(imprint.volumes).toEqual([`data:${last("VOLUME")}`]);
  expect(last("ENV")).toContain(`IMPRINT_DATA_DIR=${last("VOLUME")}`);
});

it("what its commands name is there, and what git ignores stays out", () => {
  const { scripts, engines } = JSON.parse(read("package.json"));
  for (const [, script] of all("RUN")
    .join(" ")
    .matchAll(/npm run (\S+)/g))
    expect(Object.keys(scripts)).toContain(script);
  for (const from of all("FROM")) expect(Number(/node:(\d+)/.exec(from)[1])).toBe(Number(/\d+/.exec(engines.node)[0]));
  const left = read(".dockerignore")
    .split("\n")
    .map((line) => line.split("/").at(-1));
  expect(left).toEqual(expect.arrayContaining(["node_modules", "dist", "bundle", ".imprint", ".venv", ".git"]));
});

it("without a token it does not start, and its health is asked without one", async () => {
  expect(imprint.environment.IMPRINT_TOKEN).toMatch(/^\$\{IMPRINT_TOKEN:\?/);
  const server = createServer((request, response) => response.writeHead(request.url === "/health" ? 200 : 404).end());
  onTestFinished(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const [, flag, text] = health;
  const here = text.replace(`:${last("EXPOSE")}/`, `:${server.address().port}/`);
  const ask = () => run(process.execPath, [flag, here]);
  await ask();
  server.close();
  server.closeAllConnections();
  await expect(ask()).rejects.toMatchObject({ code: 1 });
});

if (spawnSync("docker", ["info"]).status === 0)
  it("Docker builds it, and it answers", { timeout: 3_600_000 }, async () => {
    await run("docker", ["build", "--tag", "imprint-test", root]);
    const { stdout } = await run("docker", ["run", "--rm", "imprint-test", "--version"]);
    expect(stdout.trim()).toBe(JSON.parse(read("package.json")).version);
  });
