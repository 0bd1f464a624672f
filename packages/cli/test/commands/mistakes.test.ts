import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { EXAMPLES, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(build, 120_000);

const FILES = {
  "pic.png": Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
  "empty.json": "",
  "archive.zip": Buffer.from("504b030414000000", "hex"),
  "random.bin": Buffer.from(Array.from({ length: 300 }, (_, at) => (at * 131) % 256)),
  "notes.txt": "Some notes.\n",
  "torn.jsonl": '{"type":"user","mess',
  "smol.gguf": "GGUF",
};

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
  ["imprt notes.txt", "Did you mean import?"],
  ["train harborline-gates --epohcs 3", "Did you mean --epochs?"],
  ["import nowhere.json", "there is no such file or folder"],
  ["import empty", "name others, such as ~/.claude/projects"],
  ["import empty.json", "is empty"],
  ["import archive.zip", "unpack it and bring the files in it"],
  ["import random.bin", "bring the conversation as chat-jsonl"],
  ["import notes.txt", "bring the conversation as chat-jsonl"],
  ["import torn.jsonl", "bring the conversation as chat-jsonl"],
  ["import notes.txt --since yesterday", "a time ago such as 12h, 7d or 2w"],
  ["import notes.txt --since 2026-13-40", "a date (2026-01-31)"],
  ["import notes.txt --outcome good", "Allowed choices are success, failure."],
  ["inspect empty", "no recorded session is in there"],
  ["label harborline-gates good", "Allowed choices are success, failure, unknown."],
  ["preview nope", "imprint sessions lists"],
  ["preview harborline-gates --include-unsuccessful --window 99", "must be at most 2"],
  ["train nope", "imprint sessions lists"],
  ["train ./nothing.jsonl", "SESSION is an id, or the file of a recorded session"],
  ["train harborline-gates --rank 100000", "--rank must be <= 256"],
  ["train harborline-gates --rank 0", "--rank must be >= 1"],
  ["train harborline-gates --epochs -1", "--epochs must be >= 1"],
  ["train harborline-gates --epochs=-1", "--epochs must be >= 1"],
  ["train harborline-gates --learning-rate abc", "--learning-rate takes a number"],
  ["train harborline-gates --learning-rate 10", "--learning-rate must be <= 0.1"],
  ["train harborline-gates --max-length 10", "--max-length takes 64 to 131072"],
  ["train harborline-gates --profile Learn", "Allowed choices are remember, learn."],
  ["train harborline-gates --holdout 2", "--holdout takes auto, none, more than 0 to 0.5"],
  ["train harborline-gates --method qlora", "Allowed choices are lora, hypernetwork."],
  ["train harborline-gates --include-unsuccessful --adapter-id made", "Choose another, or leave --adapter-id out"],
  ["train harborline-gates --include-unsuccessful --base-model nowhere", "imprint models pull NAME fetches one"],
  ["train harborline-gates --include-unsuccessful --base-model me/mine", "downloads are not allowed"],
  ["train harborline-gates --include-unsuccessful --base-model smol.gguf", "imprint models add smol.gguf"],
  ["train harborline-gates --include-unsuccessful --base-model ./smol.gguf", "imprint models add ./smol.gguf"],
  ["sweep harborline-gates --include-unsuccessful", "name several values of"],
  ["evaluate made --on harborline-gates", "Name others with --on"],
  ["evaluate made --on nope", "imprint sessions lists"],
  ["chat nope --prompt hello", "imprint adapters"],
  ["chat made", "give --prompt TEXT"],
  ["chat made --max-tokens 0", "a whole number from 1"],
  ["chat made --temperature -1", "a number from 0 to 2"],
  ["launch codex nope", "imprint adapters"],
  ["launch emacs made", "codex"],
  ["salvage nope", "imprint jobs lists"],
  ["export made", "--format"],
  ["export made --format onnx --out out", "Allowed choices are gguf, merged, peft."],
  ["export made --format gguf", "--out says where"],
  ["export nope --format peft --out out", "imprint adapters lists"],
  ["delete made", "wants --yes"],
  ["delete nope --yes", "imprint adapters"],
  ["serve --port abc", "--port takes a whole number"],
  ["serve --port 99999", "--port must be <= 65535"],
  ["serve --host 0.0.0.0", "IMPRINT_TOKEN"],
  ["serve --token short", "22 characters"],
  ["serve --engine lama.cpp", "Allowed choices are transformers, llama.cpp."],
  ["serve --slots 0", "--slots must be >= 1"],
  ["serve --data-dir notes.txt", "Choose another with --data-dir"],
  ["project shop", "imprint project NAME --from FOLDER makes one"],
  ["project shop --rollback", "imprint project NAME --from FOLDER makes one"],
  ["project shop --from nowhere", "there is no such file or folder"],
  ["tasks show nope", "imprint tasks add NAME makes one"],
  ["tasks make harborline-gates --repo nowhere", "there is no such folder"],
  ["models pull nope", "qwen2.5-coder-0.5b-instruct"],
  ["models rm nope", "imprint models lists"],
  ["models default nope", "imprint models lists"],
  ["push made mine", "owner/name"],
  ["uninstall", "wants --yes"],
];

/** A line of what was told, twice. */
const saysTwice = (text: string): boolean =>
  text
    .split("\n")
    .some((line, at, lines) => lines.some((other, index) => index !== at && other.includes(line.replace("error:", "").trim())));

it("each mistake is told in a sentence or two, with the remedy, as wrong usage, and nothing is queued", async () => {
  const { root, env } = await servedPlace();
  for (const [name, content] of Object.entries(FILES)) await writeFile(path.join(root, name), content);
  await mkdir(path.join(root, "empty"));
  const at = { env: { ...env, PATH: process.env.PATH ?? "", HOME: root }, cwd: root };
  await imprint(["import", path.join(EXAMPLES, "harborline-gates.json")], at);
  await imprint(["train", "harborline-gates", "--include-unsuccessful", "--adapter-id", "made", "--watch"], at);
  await imprint(["label", "harborline-gates", "failure"], at);
  for (const [line, remedy] of MISTAKES) {
    const { code, stdout, stderr } = await imprint(line.split(" "), at);
    expect.soft(code, `${line}: ${stderr}`).toBe(2);
    expect.soft(stderr, line).toContain(remedy);
    expect.soft(stderr, line).not.toMatch(/\n\s+at |HTTP|\^\[|Unexpected/);
    expect.soft(stderr.trim().split("\n").length, `${line}: ${stderr}`).toBeLessThan(5);
    expect.soft(saysTwice(stderr.trim()), stderr).toBe(false);
    expect.soft(stdout, line).toBe("");
  }
  expect(JSON.parse((await imprint(["jobs", "--json"], at)).stdout).jobs).toHaveLength(1);
});

it("values that are no truth values are told what those are", async () => {
  const { code, stderr } = await imprint(["sessions"], { env: { IMPRINT_ALLOW_DOWNLOADS: "yes" } });
  expect([code, stderr]).toEqual([2, "error: IMPRINT_ALLOW_DOWNLOADS must be true or false\n"]);
});
