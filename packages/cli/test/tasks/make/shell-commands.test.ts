import { expect, test } from "vitest";
import { commandsOf } from "../../../src/tasks/make/shell-commands.js";

const read = (line: string): readonly string[] =>
  commandsOf(line, "/work").commands.map(
    ({ words, folder, told }) => `${folder} ${words.map(({ text }) => text).join(" ")} ${told}`,
  );

test.each([
  ["npm test", ["/work npm test end"]],
  ["cd app && npm test", ["/work/app cd app success", "/work/app npm test end"]],
  ["(cd app && npm test); ls", ["/work/app cd app nothing", "/work/app npm test nothing", "/work ls end"]],
  ["npm test | tail -5", ["/work npm test nothing", "/work tail -5 end"]],
  ["npm test && git push", ["/work npm test success", "/work git push end"]],
  ["npm test || true", ["/work npm test nothing", "/work true end"]],
  ["npm test;", ["/work npm test end"]],
  ["bash -lc 'cd app && npm test'", ["/work/app cd app success", "/work/app npm test end"]],
  ['cd /else && bash -c "go test ./..." | cat', ["/else cd /else nothing", "/else go test ./... nothing", "/else cat end"]],
])("%j says where each command runs, and what its exit code tells of it", (line, commands) => {
  expect(read(line)).toEqual(commands);
});

test("a line leaves the shell where its last cd leads", () => {
  expect(commandsOf("cd a && cd ../b; (cd c)", "/work").folder).toBe("/work/b");
});
