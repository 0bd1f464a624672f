import { writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { EXAMPLES, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(build, 120_000);

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

/** What newcomers type, and a word of the remedy that they are told. */
const MISTAKES: readonly (readonly [line: string, remedy: string])[] = [
  ["import pic.png", "a PNG picture, and no recorded session"],
  ["import", "--help shows examples"],
  ["import -home-me-shop", "./-home-me-shop"],
  ["label zzzz success", "imprint sessions lists"],
  ["label har success", "shortened to 4 characters at least"],
  ["train", "imprint sessions lists"],
  ["train harborline-gates", "--include-unsuccessful"],
  ["train harborline-gates --model foo", "--base-model names the base model"],
  ["train harborline-gates --include-unsuccessful --base-model tiny", "Is tiny-model meant?"],
  ["train harborline-gates --include-unsuccessful --base-model qwen2.5-coder:7b", "such as qwen2.5-coder-0.5b-instruct"],
  ["train harborline-gates --adapter-id My_Adapter!", "small letters, digits, dots, dashes and underscores"],
  ["train harborline-gates --within soon", "a time such as 20m"],
  ["train shop", "imprint sessions lists"],
  ["job nope", "imprint jobs lists"],
  ["cancel nope", "imprint jobs lists"],
  ["adapter nope", "imprint adapters lists"],
  ["evaluate nope", "imprint adapters lists"],
  ["push nope me/mine", "imprint adapters lists"],
  ["sessions --token abc", "IMPRINT_TOKEN"],
  ["sessions --url localhost:7878", "write http://127.0.0.1:7878"],
  ["project Shop! --sessions harborline-gates", "small letters"],
];

it("each mistake is told in a sentence or two, with the remedy, as wrong usage, and nothing is queued", async () => {
  const { root, env } = await servedPlace();
  await writeFile(path.join(root, "pic.png"), PNG);
  const at = { env: { ...env, PATH: process.env.PATH ?? "" }, cwd: root };
  await imprint(["import", path.join(EXAMPLES, "harborline-gates.json")], at);
  await imprint(["label", "harborline-gates", "failure"], at);
  for (const [line, remedy] of MISTAKES) {
    const { code, stdout, stderr } = await imprint(line.split(" "), at);
    expect(code, `${line}: ${stderr}`).toBe(2);
    expect(stderr, line).toContain(remedy);
    expect(stderr, line).not.toMatch(/\n\s+at |HTTP|\^\[|Unexpected/);
    expect(stderr.trim().split("\n").length, `${line}: ${stderr}`).toBeLessThan(5);
    expect(stdout, line).toBe("");
  }
  expect(JSON.parse((await imprint(["jobs", "--json"], at)).stdout).jobs).toEqual([]);
});

it("values that are no truth values are told what those are", async () => {
  const { code, stderr } = await imprint(["sessions"], { env: { IMPRINT_ALLOW_DOWNLOADS: "yes" } });
  expect([code, stderr]).toEqual([2, "error: IMPRINT_ALLOW_DOWNLOADS must be true or false\n"]);
});
