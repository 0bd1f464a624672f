import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

const file = (name) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
const documents = parseAllDocuments(file("examples/cluster/kuberay.yaml"));
const [claim, cluster] = documents.map((one) => one.toJS());
const groups = [cluster.spec.headGroupSpec, ...cluster.spec.workerGroupSpecs];
const containers = groups.flatMap(({ template }) => template.spec.containers);

// KubeRay's schema is in no package of the registries: these are the fields that its RayCluster needs, and those that the docs name.
test("the manifest is a claim and a RayCluster, as KubeRay names their fields", () => {
  expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
  expect([claim.apiVersion, claim.kind, cluster.apiVersion, cluster.kind]).toEqual([
    ...["v1", "PersistentVolumeClaim"],
    ...["ray.io/v1", "RayCluster"],
  ]);
  for (const { rayStartParams, template } of groups) {
    expect(typeof rayStartParams).toBe("object");
    expect(template.spec.containers).toHaveLength(1);
  }
  for (const { groupName, replicas, minReplicas, maxReplicas } of cluster.spec.workerGroupSpecs) {
    expect(groupName).toMatch(/^[a-z]+$/);
    expect(minReplicas <= replicas && replicas <= maxReplicas).toBe(true);
  }
});

test("every node sees the storage under one path, asks for a token and has the same image", () => {
  expect(claim.spec.accessModes).toEqual(["ReadWriteMany"]);
  expect(new Set(containers.map(({ image }) => image)).size).toBe(1);
  for (const { template } of groups)
    expect(template.spec.volumes).toEqual([{ name: "storage", persistentVolumeClaim: { claimName: claim.metadata.name } }]);
  for (const { env, volumeMounts } of containers) {
    expect(volumeMounts).toEqual([{ mountPath: "/imprint", name: "storage" }]);
    expect(env.map(({ name }) => name)).toEqual(["RAY_AUTH_MODE", "RAY_AUTH_TOKEN"]);
    // No secret stands in the file.
    expect(env[1]).toEqual({ name: "RAY_AUTH_TOKEN", valueFrom: { secretKeyRef: { name: "imprint-ray", key: "token" } } });
  }
});

test("a job finds what it asks for on a worker, and nothing on the head", () => {
  const [head, ...workers] = groups;
  expect(head.rayStartParams["num-cpus"]).toBe("0");
  for (const { template } of workers) {
    const { requests, limits } = template.spec.containers[0].resources;
    expect(requests).toEqual(limits);
    expect(requests["nvidia.com/gpu"]).toBe("1");
  }
});

test("the docs, and the steps at the manifest's head, name what the manifest holds", () => {
  const steps = file("examples/cluster/kuberay.yaml").match(/^#.*$/gm).join("\n");
  const docs = `${file("docs/ray.md")}\n${steps}`;
  for (const said of [
    "examples/cluster/kuberay.yaml",
    claim.metadata.name,
    "imprint-ray",
    "/imprint",
    cluster.spec.rayVersion,
    "maxReplicas",
  ])
    expect(docs).toContain(said);
});
