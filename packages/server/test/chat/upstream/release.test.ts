import { expect, it } from "vitest";
import { lookAtUpstream } from "../../../src/chat/upstream/models.js";
import { type FakeKind, startFake } from "./fake.js";

const holeAt = async (kind: FakeKind, answers: Readonly<Record<string, readonly [number, object]>>) => {
  const { url } = await startFake({ kind, refuse: ({ path }) => answers[path] ?? null });
  return (await lookAtUpstream({ url, host: "big-box", token: null, adapters: null }, [])).hole;
};

it.each([
  ["vllm", "/version", "0.9.2", "0.14.0"],
  ["vllm", "/version", "0.13.0.post1", "0.14.0"],
  ["organization_owner", "/api/version", "0.6.8", "0.17.1"],
] as const)("warns of %s whose %s is %s", async (kind, path, version, safe) => {
  const hole = await holeAt(kind, { [path]: [200, { version }] });
  expect(hole).toMatch(new RegExp(`^its release ${version} has a known hole \\(CVE-.+\\); ${safe} has not$`));
});

it.each([
  ["vllm", { "/version": [200, { version: "0.14.0" }] }],
  ["vllm", { "/version": [200, { version: "1.2.0" }] }],
  ["organization_owner", { "/api/version": [200, { version: "0.34.1" }] }],
  ["organization_owner", {}],
  ["vllm", { "/version": [500, { detail: "no" }] }],
  ["vllm", { "/version": [200, { version: 7 }] }],
  ["sglang", { "/version": [200, { version: "0.1.0" }] }],
] as const)("says nothing of %s where %j tells of none", async (kind, answers) => {
  expect(await holeAt(kind, answers)).toBeNull();
});
