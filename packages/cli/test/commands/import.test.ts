import { copyFile, cp, mkdir, readdir, readFile, rename, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint, start } from "../support/imprint.js";
import { EXAMPLES, type Place, place, serve, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

const CLAUDE = path.join(EXAMPLES, "claude-code", "5b0f6d1e-9c44-4a7b-8f12-7413c0ffee01.jsonl");
const statuses = (stdout: string): string[] => JSON.parse(stdout).files.map((file: { status: string }) => file.status);

describe("import", () => {
  it("walks a folder, stores what is a session, and knows it the second time", async () => {
    const at = await servedPlace();
    const folder = path.join(at.root, "recorded");
    await cp(EXAMPLES, folder, { recursive: true });
    await mkdir(path.join(folder, "node_modules"));
    await cp(CLAUDE, path.join(folder, "node_modules", "x.jsonl"));
    await writeFile(path.join(folder, "package.json"), '{"name": "no session"}');
    const first = await imprint(["import", folder, "--json"], at);
    expect([first.code, first.stderr]).toEqual([0, ""]);
    expect(statuses(first.stdout).sort()).toEqual(["skipped", "stored", "stored"]);
    const second = await imprint(["import", folder], at);
    expect(second.stdout).toContain("2 sessions stored before, 1 other file skipped.");
    expect(JSON.parse((await imprint(["sessions", "--json"], at)).stdout).sessions).toHaveLength(2);
    const found = JSON.parse((await imprint(["sessions", "Claude-Code", "unknown", "--json"], at)).stdout).sessions;
    expect(found.map((one: { format: string }) => one.format)).toEqual(["claude-code"]);
    expect((await imprint(["sessions", "nobody", "said", "this"], at)).stdout).toContain(
      "No session has the words nobody said this.",
    );
  });

  it("--dry-run says what would be stored, and stores nothing", async () => {
    const at = await place();
    const { code, stdout, stderr } = await imprint(["import", EXAMPLES, "--dry-run"], at);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("2 sessions would be stored.");
    expect(await readdir(at.root)).not.toContain("data");
  });

  it("--outcome says how sessions ended, and label says it later", async () => {
    const at = await servedPlace();
    const outcomes = async (): Promise<string[]> =>
      JSON.parse((await imprint(["sessions", "--json"], at)).stdout).sessions.map((one: { outcome: string }) => one.outcome);
    const dry = await imprint(["import", CLAUDE, "--outcome", "failure", "--dry-run", "--json"], at);
    expect(JSON.parse(dry.stdout).files[0].sessions[0].outcome).toBe("failure");
    await imprint(["import", CLAUDE, "--outcome", "failure"], at);
    expect(await outcomes()).toEqual(["failure"]);
    const labelled = await imprint(["label", path.basename(CLAUDE, ".jsonl"), "success"], at);
    expect(labelled.stdout).toBe(`Session ${path.basename(CLAUDE, ".jsonl")}: success.\n`);
    expect(await outcomes()).toEqual(["success"]);
  });

  it("a session that a search leaves alone is shown with what it is judged by", async () => {
    const at = await servedPlace();
    const folder = path.join(at.root, "recorded");
    await mkdir(folder);
    const said = (role: string, content: string): object => ({ role, content });
    const messages = [said("user", "Round the prices."), said("assistant", "Done."), said("user", "No, revert that.")];
    await writeFile(path.join(folder, "round.jsonl"), `${JSON.stringify({ messages })}\n`);
    await imprint(["import", folder], at);
    const { stdout } = await imprint(["sessions", "Round"], at);
    expect(stdout).toContain("failure (judged)");
    expect(stdout.split("\n").at(-2)).toBe('complaint  "No, revert that."');
  });

  it("stores nothing when one of the paths is wrong", async () => {
    const at = await servedPlace();
    const { code, stderr } = await imprint(["import", EXAMPLES, path.join(at.root, "missing")], at);
    expect(code).toBe(2);
    expect(stderr).toContain("there is no such file or folder");
    expect(JSON.parse((await imprint(["sessions", "--json"], at)).stdout).sessions).toEqual([]);
  });

  it("a named file that is no session fails the command, and the others are stored", async () => {
    const at = await servedPlace();
    const stranger = path.join(at.root, "notes.txt");
    await writeFile(stranger, "nothing of interest");
    const { code, stdout } = await imprint(["import", stranger, CLAUDE], at);
    expect(code).toBe(1);
    expect(stdout).toContain(`✗ ${stranger}: `);
    expect(stdout).toContain("1 session stored, 1 file not imported.");
  });

  it("counts a session that it meets growing once, whichever recording comes first", async () => {
    const line = (at: number, type: string, content: unknown): string =>
      JSON.stringify({
        parentUuid: at === 1 ? null : `u${at - 1}`,
        uuid: `u${at}`,
        sessionId: "5b0e8a52-6c1d-4f0a-9a55-0c2f6c1f7001",
        isSidechain: false,
        version: "2.1.98",
        timestamp: `2026-09-14T08:00:0${at}.000Z`,
        type,
        message: { role: type, ...(type === "assistant" && { id: `msg_${at}`, type: "message", model: "m" }), content },
      });
    const said = (text: string): unknown => [{ type: "text", text }];
    const lines = [
      line(1, "user", "Make the tide table start at midnight instead of six."),
      line(2, "assistant", said("It starts at midnight.")),
      line(3, "user", "And end it at noon."),
      line(4, "assistant", said("It ends at noon.")),
    ];
    const at = await servedPlace();
    const importing = async (folder: string, ...counts: readonly number[]): Promise<string> => {
      for (const [index, lineCount] of counts.entries()) {
        await mkdir(path.join(at.root, folder, String(index)), { recursive: true });
        await writeFile(path.join(at.root, folder, String(index), "full.jsonl"), lines.slice(0, lineCount).join("\n"));
      }
      return (await imprint(["import", path.join(at.root, folder)], at)).stdout;
    };
    expect(await importing("growing", 2, 4)).toContain("1 session stored, replaced once.");
    expect(await importing("again", 4, 2)).toContain("1 session stored before.");
    await imprint(["delete", "5b0e8a52-6c1d-4f0a-9a55-0c2f6c1f7001", "--yes"], at);
    expect(await importing("newest-first", 4, 2)).toContain("1 session stored.");
    const { sessions } = JSON.parse((await imprint(["sessions", "--json"], at)).stdout);
    expect(sessions).toMatchObject([{ user_turns: 2, assistant_turns: 2 }]);
  });

  it("names what it skips and refuses in a line a reason, and suggests a session that can be trained", async () => {
    const at = await servedPlace();
    const folder = path.join(at.root, "recorded");
    await mkdir(folder);
    const chat = (name: string, messages: readonly object[]) =>
      writeFile(path.join(folder, name), `${JSON.stringify({ messages })}\n`);
    const talk = [
      { role: "user", content: "Fix it." },
      { role: "assistant", content: "Fixed." },
    ];
    await chat("a-silent.jsonl", [talk[0] as object, { ...talk[1], weight: 0 }]);
    await chat("b-good.jsonl", talk);
    for (const name of ["x.json", "y.json"]) await writeFile(path.join(folder, name), '{"name": "no session"}');
    const notes = ["1.md", "2.md", "3.md", "4.md"].map((name) => path.join(at.root, name));
    for (const one of notes) await writeFile(one, "# Notes\n");
    const { code, stdout } = await imprint(["import", folder, ...notes], at);
    expect(code).toBe(1);
    const reason =
      "no recorded session of a known format (neither JSON nor a known transcript). To have it read, bring the conversation as chat-jsonl (`messages` of `role` and `content`) or as ATIF";
    expect(stdout).toContain(`✗ 4 files: ${reason}: ${notes[0]}, ${notes[1]}, and 2 others; --verbose lists all\n`);
    expect(stdout).toMatch(
      /^· skipped 2 files: no recorded session of a known format \(JSON without turns\): .*x\.json, .*y\.json$/m,
    );
    const [, suggested = ""] = /^Train on one: npx imprint train (\S+) --watch$/m.exec(stdout) ?? [];
    const { sessions } = JSON.parse((await imprint(["sessions", "--json"], at)).stdout);
    const lessons = sessions.map((one: { session_id: string; trainable_turns: number }) => [one.session_id, one.trainable_turns]);
    expect(new Map(lessons).get(suggested)).toBe(1);
    expect(lessons.map(([, count]: [string, number]) => count).sort()).toEqual([0, 1]);
    const all = await imprint(["import", ...notes, folder, "--verbose"], at);
    for (const one of notes) expect(all.stdout).toContain(`✗ ${one}: ${reason}. Looked for gateway`);
  });

  it("a folder without sessions is wrong usage", async () => {
    const at = await place();
    await mkdir(path.join(at.root, "empty"));
    expect((await imprint(["import", path.join(at.root, "empty")], at)).code).toBe(2);
  });
});

describe("import --since", () => {
  it("takes only files written since", async () => {
    const at = await servedPlace();
    const folder = path.join(at.root, "recorded");
    await cp(EXAMPLES, folder, { recursive: true });
    await utimes(path.join(folder, "harborline-gates.json"), new Date("2026-01-01"), new Date("2026-01-01"));
    await utimes(path.join(folder, "claude-code", path.basename(CLAUDE)), new Date("2026-01-03"), new Date("2026-01-03"));
    const { code, stdout, stderr } = await imprint(["import", folder, "--since", "2026-01-02"], at);
    expect(code).toBe(0);
    expect(stdout).toContain("1 session stored.");
    expect(stderr).toContain("1 older file left out.");
    const none = await imprint(["import", folder, "--since", "1h", "--json"], at);
    expect([none.code, JSON.parse(none.stdout).files]).toEqual([0, []]);
  });
});

/** Puts a file into the watched folder as if nobody had written to it for a minute. */
async function put({ root }: Place, name: string, text: string): Promise<void> {
  const old = new Date(Date.now() - 60_000);
  await writeFile(path.join(root, name), text);
  await utimes(path.join(root, name), old, old);
  await rename(path.join(root, name), path.join(root, "recorded", name));
}

describe("import --watch", () => {
  it("outlasts a service that stops: says so once, and imports what came meanwhile when it is back", async () => {
    const at = await servedPlace();
    const folder = path.join(at.root, "recorded");
    await mkdir(folder);
    const watching = start(["import", folder, "--watch"], at.env);
    await watching.said("Watching");
    await at.server.close(0);
    await put(at, "one.jsonl", await readFile(CLAUDE, "utf8"));
    await watching.said("The watch goes on when the service is back.");
    await serve(at, new URL(at.server.url).port);
    await watching.said("The service is back.");
    await watching.said("stored  5b0f6d1e");
    watching.child.kill("SIGINT");
    const { code, stdout, stderr } = await watching.ended;
    expect(code).toBe(0);
    expect(stdout).toContain("1 session stored.");
    expect(stderr.split("The watch goes on")).toHaveLength(2);
  });

  it("Ctrl-C ends it at once while the service is away", async () => {
    const at = await servedPlace();
    const folder = path.join(at.root, "recorded");
    await mkdir(folder);
    const watching = start(["import", folder, "--watch"], at.env);
    await watching.said("Watching");
    await at.server.close(0);
    await put(at, "one.jsonl", await readFile(CLAUDE, "utf8"));
    await watching.said("The watch goes on");
    watching.child.kill("SIGINT");
    const { code, stdout } = await watching.ended;
    expect([code, stdout]).toEqual([0, "Nothing to import.\n"]);
  });

  it("imports what is there and what comes, knows what it had, and ends with a summary on Ctrl-C", async () => {
    const at = await servedPlace();
    const folder = path.join(at.root, "recorded");
    const lines = (await readFile(CLAUDE, "utf8")).trimEnd().split("\n");
    await mkdir(folder);
    const watching = start(["import", folder, "--watch"], at.env);
    await watching.said("Watching");
    await put(at, "one.jsonl", `${lines.slice(0, 9).join("\n")}\n`);
    await watching.said("stored  5b0f6d1e");
    await put(at, "one.jsonl", `${lines.join("\n")}\n`);
    await watching.said("is replaced");
    watching.child.kill("SIGINT");
    const { code, stdout } = await watching.ended;
    expect(code).toBe(0);
    expect(stdout).toContain("1 session stored.");
    const { sessions } = JSON.parse((await imprint(["sessions", "--json"], at)).stdout);
    expect(sessions).toHaveLength(1);
    expect(sessions[0].assistant_turns).toBe(7);
  });
});

describe("inspect", () => {
  it("prints one report with --json", async () => {
    const { code, stdout, stderr } = await imprint(["inspect", CLAUDE, "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({
      format: "claude-code",
      user_turns: 1,
      assistant_turns: 7,
      tool_calls: 6,
      tool_results: 6,
      bad_lines: 0,
    });
  });

  it("prints a list for several files, and names a file that is no session", async () => {
    const native = path.join(EXAMPLES, "harborline-gates.json");
    const both = await imprint(["inspect", native, CLAUDE, "--json"]);
    expect(JSON.parse(both.stdout).map((report: { format: string }) => report.format)).toEqual(["native", "claude-code"]);
    const at = await place();
    const stranger = path.join(at.root, "stranger.txt");
    await writeFile(stranger, "nothing");
    const refused = await imprint(["inspect", native, stranger]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(stranger);
  });

  it("walks folders as import does, beside files, and leaves out what is no session there", async () => {
    const at = await place();
    const folder = path.join(at.root, "logs");
    await mkdir(path.join(folder, "deep"), { recursive: true });
    await copyFile(CLAUDE, path.join(folder, "deep", "one.jsonl"));
    await writeFile(path.join(folder, "package.json"), "{}");
    const native = path.join(EXAMPLES, "harborline-gates.json");
    const { code, stdout } = await imprint(["inspect", folder, native, "--json"]);
    expect(code).toBe(0);
    const reports: { file: string; format: string }[] = JSON.parse(stdout);
    expect(reports.map(({ file, format }) => [path.basename(file), format])).toEqual([
      ["one.jsonl", "claude-code"],
      ["harborline-gates.json", "native"],
    ]);
    const one = await imprint(["inspect", path.join(folder, "deep"), "--json"]);
    expect(JSON.parse(one.stdout)).toHaveLength(1);
  });

  it("refuses a folder without any session in a sentence", async () => {
    const at = await place();
    const folder = path.join(at.root, "empty");
    await mkdir(folder);
    await writeFile(path.join(folder, "package.json"), "{}");
    const { code, stderr } = await imprint(["inspect", folder]);
    expect(code).toBe(2);
    expect(stderr).toContain("no recorded session is in there");
  });
});

describe("preview", () => {
  it("says what would be learned, and marks it in the text", async () => {
    const at = await servedPlace();
    await imprint(["import", EXAMPLES], at);
    const { code, stdout } = await imprint(["preview", "harborline-gates", "--text"], at);
    expect(code).toBe(0);
    expect(stdout).toContain("120 tokens in 3 turns");
    expect(stdout).toContain("at most     3 steps, 600 tokens");
    expect(stdout).toContain("time        No training of tiny-model has finished on this machine yet");
    expect(stdout).toContain("left out    1 × duplicate turn");
    expect(stdout).toContain("── window 1 of 2\nuser: hello\n«hi»\nand 1 window more: --window 2 shows the next one");
  });

  it("prints a window that is asked for whole, and refuses one that is not there", async () => {
    const windows = [[{ text: "first", supervised: true, tokens: 1 }], [{ text: "second", supervised: true, tokens: 1 }]];
    const at = await servedPlace(() => ({ windows }));
    await imprint(["import", EXAMPLES], at);
    const shown = (window: string) => imprint(["preview", "harborline-gates", "--window", window], at);
    expect(await shown("2")).toMatchObject({ code: 0, stdout: "── window 2 of 2\n«second»\n" });
    expect(await shown("3")).toMatchObject({ code: 2, stderr: expect.stringContaining("--window must be at most 2") });
    expect(await shown("0")).toMatchObject({ code: 2, stderr: expect.stringContaining("--window") });
  });

  it("colours what is learned instead of marking it, and never with NO_COLOR", async () => {
    const at = await servedPlace();
    await imprint(["import", EXAMPLES], at);
    const shown = (env: Record<string, string>) =>
      imprint(["preview", "harborline-gates", "--text"], { env: { ...at.env, ...env } });
    expect((await shown({ FORCE_COLOR: "1" })).stdout).toContain("\u001b[32mhi\u001b[39m");
    const plain = await shown({ FORCE_COLOR: "1", NO_COLOR: "1" });
    expect(plain.stdout).toContain("«hi»");
    expect(plain.stdout).not.toContain("\u001b");
  });

  it("lists the turns by the numbers that --train-on takes, of several sessions", async () => {
    const at = await servedPlace();
    await imprint(["import", EXAMPLES], at);
    const both = ["harborline-gates", path.basename(CLAUDE, ".jsonl")];
    const { code, stdout } = await imprint(["preview", ...both, "--turns", "--train-on", "successful_steps"], at);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^s1 +1 +learned +hi$/m);
    expect(stdout).toMatch(/^s1 +3 +duplicate turn +hi \[bash\]$/m);
  });
});
