import path from "node:path";
import { Task } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UsageError } from "../../src/errors.js";
import { inTemporary } from "../../src/tasks/folders.js";
import { isInside, readTasks, writeTask } from "../../src/tasks/task-file.js";
import { emptyFolder, writeFiles } from "./support.js";

const TASK: Task = { name: "one", repository: "..", prompt: "Do it", check: "sh check.sh" };
const YAML = "name: one\nrepository: ..\nprompt: Do it\ncheck: sh check.sh\n";

describe("a task's file", () => {
  it("reads as it was written, whatever the texts are", async () => {
    const text = fc.string({
      minLength: 1,
      unit: fc.oneof(
        fc.constantFrom("\n", " ", "\t", "#", ":", "-", "'", '"', "|"),
        fc.string({ minLength: 1, maxLength: 1, unit: "grapheme" }),
      ),
    });
    const task = fc.record(
      {
        name: fc.constant("one"),
        repository: text,
        commit: fc.constantFrom("1234", "0e10", "1f3a9c2", "true"),
        prompt: text,
        check: text,
        check_files: fc.dictionary(fc.constantFrom("check.sh", "tests/a b.py", "~", "no", "1"), text),
        family: text,
        solution: text,
        limits: fc.record({ turns: fc.integer({ min: 1, max: 1000 }), seconds: fc.integer({ min: 1, max: 86_400 }) }),
      },
      { requiredKeys: ["name", "repository", "prompt", "check"] },
    );
    await fc.assert(
      fc.asyncProperty(task, (one) =>
        inTemporary(async (folder) => {
          const plain = JSON.parse(JSON.stringify(one)) as Task;
          fc.pre(matches(Task, plain));
          const file = await writeTask(folder, plain);
          expect(await readTasks(folder)).toEqual([{ task: plain, file }]);
        }),
      ),
      { examples: [[{ ...TASK, repository: " \n", check: "\n" }], [{ ...TASK, solution: "\n\n", check: "a\r\nb\u2028" }]] },
    );
  });

  it("is read by hand-written YAML as well, in the order of names, beside files that are none", async () => {
    const folder = await emptyFolder();
    await writeFiles(folder, {
      "two.yaml": YAML.replace("one", "two"),
      "one.yaml": `${YAML}check_files: { check.sh: "grep -q yes answer" }\n`,
      "README.md": "# Tasks",
    });
    const tasks = await readTasks(folder);
    expect(tasks.map(({ task }) => task.name)).toEqual(["one", "two"]);
    expect(tasks[0]?.task.check_files).toEqual({ "check.sh": "grep -q yes answer" });
  });

  it.each([
    ["a field that is missing", "name: one\nrepository: ..\nprompt: Do it\n", "check is required"],
    ["a field that is not known", `${YAML}network: true\n`, "network is not a known field"],
    ["a limit out of bounds", `${YAML}limits: { turns: 0, seconds: 5 }\n`, "limits/turns must be >= 1"],
    ["another task's name", YAML.replace("one", "two"), "name is two: call the file two.yaml"],
    ["a check file above the result", `${YAML}check_files: { ../x: y }\n`, 'check_files names "../x", which leaves the result'],
    [
      "a check file by its full path",
      `${YAML}check_files: { /etc/x: y }\n`,
      'check_files names "/etc/x", which leaves the result',
    ],
    ["an option in the place of a commit", `${YAML}commit: --force\n`, "commit must be"],
    ["what is no YAML", "name: [one\n", "one.yaml: "],
    ["what is empty", "", "the file must be object"],
    [
      "many aliases of aliases",
      `a: &a [1, 1]\nb: &b [*a, *a]\n${[..."cdefghij"].map((l, i) => `${l}: &${l} [${`*${"bcdefghi"[i]},`.repeat(9)}]\n`).join("")}`,
      "one.yaml: ",
    ],
  ])("is refused with %s, by a sentence that names it", async (_, text, sentence) => {
    const folder = await emptyFolder();
    await writeFiles(folder, { "one.yaml": text });
    const reading = readTasks(folder);
    await expect(reading).rejects.toBeInstanceOf(UsageError);
    await expect(reading).rejects.toThrow(sentence);
    await expect(reading).rejects.toThrow(path.join(folder, "one.yaml"));
  });

  it("is not written over, and not read from a folder that is not there", async () => {
    const folder = await emptyFolder();
    await writeTask(folder, TASK);
    await expect(writeTask(folder, { ...TASK, prompt: "Other" })).rejects.toThrow("one.yaml is there");
    expect((await readTasks(folder))[0]?.task).toEqual(TASK);
    await expect(readTasks(path.join(folder, "none"))).rejects.toThrow("there is no folder");
  });
});

it("no path of check_files that is taken names anything but what is below the folder", () => {
  const part = fc.oneof(fc.constantFrom("..", ".", "", "a", "...", "~", "\0", "..\0", "\\", "..\\", "%2e%2e"), fc.string());
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const given = parts.join("/");
      const reached = path.resolve("/result", given);
      expect(isInside(given) && !reached.startsWith("/result/")).toBe(false);
      // What is refused is no plain path: nothing that a task needs is lost.
      const isPlain = given !== "" && path.normalize(given) === given && !/^\.\.(\/|$)|^\.?$|^\/|\/$|\0/.test(given);
      expect(isInside(given)).toBe(isPlain);
    }),
    { numRuns: 2_000 },
  );
});
