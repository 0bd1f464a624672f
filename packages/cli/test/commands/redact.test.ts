import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

const TOKEN = `ghp_${"a1B2c3D4e5F6g7H8i9".repeat(2)}`;
const RECORDING = [
  JSON.stringify({
    messages: [
      { role: "user", content: `Use ${TOKEN}` },
      { role: "assistant", content: "Done." },
    ],
  }),
  JSON.stringify({
    messages: [
      { role: "user", content: "password: tiger-river-7" },
      { role: "assistant", content: TOKEN },
    ],
  }),
  "",
].join("\n");
const CLEAN = RECORDING.replaceAll(TOKEN, "<SECRET:github-token>").replace("tiger-river-7", "<SECRET:password>");

/** A folder with `logs/a.jsonl`, that only its owner may read. */
async function folder(): Promise<{ root: string; file: string }> {
  const root = await mkdtemp(path.join(tmpdir(), "imprint-redact-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const file = path.join(root, "logs/a.jsonl");
  await mkdir(path.dirname(file));
  await writeFile(file, RECORDING);
  await chmod(file, 0o600);
  return { root, file };
}

const read = (file: string): Promise<string> => readFile(file, "utf8");

async function refused(args: readonly string[], sentence: string): Promise<void> {
  const { code, stdout, stderr } = await imprint(["redact", ...args]);
  expect([code, stdout], stderr).toEqual([2, ""]);
  expect(stderr).toContain(sentence);
  expect(stderr).not.toMatch(/\n\s+at |Unexpected/);
}

describe("imprint redact", () => {
  it("writes a copy beside the file, of its mode, counts by kind, and leaves the file", async () => {
    const { file } = await folder();
    const { code, stdout } = await imprint(["redact", file]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/a\.redacted\.jsonl: 2 × github-token, 1 × password\n1 recording redacted/);
    const copy = file.replace("a.jsonl", "a.redacted.jsonl");
    expect([await read(file), await read(copy)]).toEqual([RECORDING, CLEAN]);
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
  });

  it("never writes over a copy, and takes none for a recording of the folder", async () => {
    const { root, file } = await folder();
    await imprint(["redact", root]);
    await refused([root], "a.redacted.jsonl exists: remove it, or choose another folder with --out");
    await rm(file);
    await refused([root], "no recorded session is in there");
  });

  it("writes a folder's recordings under --out as they stand in it, decompressed, and tells it in JSON", async () => {
    const { root, file } = await folder();
    await writeFile(`${file.replace("a.jsonl", "b.jsonl")}.gz`, gzipSync(RECORDING));
    await writeFile(path.join(root, "package.json"), '{"name": "x"}');
    const out = path.join(root, "../", `${path.basename(root)}-out`);
    onTestFinished(() => rm(out, { recursive: true, force: true }));
    const { code, stdout } = await imprint(["redact", root, "-o", out, "--json"]);
    expect(code).toBe(0);
    const { files } = JSON.parse(stdout);
    expect(files.map((one: { written: string[] }) => one.written)).toEqual([
      [path.join(out, "logs/a.jsonl")],
      [path.join(out, "logs/b.gz.jsonl")],
    ]);
    expect(files[0].redactions).toEqual([
      { kind: "github-token", count: 2 },
      { kind: "password", count: 1 },
    ]);
    for (const name of ["a", "b.gz"]) expect(await read(path.join(out, `logs/${name}.jsonl`))).toBe(CLEAN);
    expect(await readdir(out)).toEqual(["logs"]);
  });

  it("replaces the file with --in-place, leaves nothing else there, and finds nothing the next time", async () => {
    const { file } = await folder();
    expect((await imprint(["redact", file, "--in-place"])).code).toBe(0);
    expect(await read(file)).toBe(CLEAN);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(path.dirname(file))).toEqual(["a.jsonl"]);
    expect((await imprint(["redact", file, "--in-place"])).stdout).toContain("nothing found");
  });

  it("goes on after a named file that is no recording, and ends with 1", async () => {
    const { root, file } = await folder();
    const other = path.join(root, "notes.json");
    await writeFile(other, '{"a": 1}');
    const { code, stderr } = await imprint(["redact", other, file]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/notes\.json: no recorded session/)]);
    expect(await read(file.replace("a.jsonl", "a.redacted.jsonl"))).toBe(CLEAN);
  });

  it("refuses with a sentence what it cannot do, and writes nothing", async () => {
    const { root, file } = await folder();
    const packed = `${file}.gz`;
    await writeFile(packed, gzipSync(RECORDING));
    const zip = path.join(root, "a.json");
    await writeFile(zip, "PK\u0003\u0004");
    await refused([path.join(root, "nowhere")], "there is no such file or folder");
    await refused([file, "--in-place", "-o", root], "--out and --in-place exclude each other");
    await refused([packed, "--in-place"], "is compressed and cannot be replaced");
    await refused([zip], "a ZIP archive");
    await mkdir(path.join(root, "same"));
    await copyFile(file, path.join(root, "same/a.jsonl"));
    await refused([file, path.join(root, "same/a.jsonl"), "-o", path.join(root, "out")], "would be written twice");
    expect((await readdir(root, { recursive: true })).sort()).toEqual(
      ["a.json", "logs", "logs/a.jsonl", "logs/a.jsonl.gz", "same", "same/a.jsonl"].sort(),
    );
    expect(await read(file)).toBe(RECORDING);
  });
});
