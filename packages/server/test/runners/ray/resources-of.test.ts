import { expect, test } from "vitest";
import { resourcesOf } from "../../../src/runners/ray/resources-of.js";
import { evaluateTask, loraTask } from "../support.js";

const alone = { ray_cpus: 3, ray_gpus: 1, ray_nodes: 1, ray_patience: 300, processes: 1, shard_base: false };

test("a training on several nodes asks each of them for what its processes take, and names who starts them there", () => {
  const node = { cpus: 6, gpus: 2, memory: 2000 };
  const settings = { ...alone, ray_nodes: 4, processes: 2, shard_base: true };
  expect(resourcesOf(loraTask(), settings, 1000, "/opt/ray/python")).toEqual({
    ...node,
    args: ["--threads", "6", "--processes", "2", "--nodes", "4", "--shard-base"],
    nodes: { ...node, python: "/opt/ray/python", patience_seconds: 300 },
  });
});

test("what is no training, and a training of one process, asks for one", () => {
  const one = { cpus: 3, gpus: 1, memory: null };
  expect(resourcesOf(evaluateTask(), { ...alone, ray_nodes: 4 }, null, "python")).toEqual(one);
  expect(resourcesOf(loraTask(), alone, null, "python")).toEqual(one);
});
