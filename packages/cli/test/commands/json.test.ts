import path from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { EXAMPLES, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

it("every command prints exactly one JSON document with --json, failing or not", async () => {
  const at = await servedPlace();
  const lines = [
    `import ${EXAMPLES}`,
    `import ${EXAMPLES} --dry-run`,
    `inspect ${path.join(EXAMPLES, "harborline-gates.json")}`,
    "sessions",
    "label harborline-gates success",
    "label unknown success",
    "preview harborline-gates",
    "train harborline-gates --adapter-id a --watch",
    "train harborline-gates --method hypernetwork --adapter-id b --watch",
    "train nobody --watch",
    "jobs",
    "job unknown",
    "cancel unknown",
    "adapters",
    "adapter a",
    "adapter unknown",
    "chat a --prompt hello",
    "chat unknown --prompt hello",
    "delete a --yes",
    "models",
    "doctor",
  ];
  for (const line of lines) {
    const { stdout, code } = await imprint([...line.split(" "), "--json"], { env: { ...at.env, FORCE_COLOR: "1" } });
    expect(() => JSON.parse(stdout), `${line}: ${stdout}`).not.toThrow();
    const isWrong = line.includes("unknown") || line.includes("nobody");
    expect([line, code]).toEqual([line, isWrong ? 2 : Number(line === "doctor")]);
  }
}, 120_000);
