import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commandsOf } from "../../../src/tasks/make/shell-commands.js";
import { covers, type TestCommand, testCommand } from "../../../src/tasks/make/test-runner.js";

const found = (line: string): readonly TestCommand[] =>
  commandsOf(line, "/").commands.flatMap(({ words }) => testCommand(words) ?? []);
const only = (line: string): TestCommand => {
  const [one] = found(line);
  if (one === undefined) throw new Error(`no test command in ${line}`);
  return one;
};

test.each([
  ["pytest -q tests/test_a.py", "python3 -m pytest -q tests/test_a.py"],
  [".venv/bin/python -m pytest tests 2>&1 | tail -3", "python3 -m pytest tests"],
  ["python3.12 -W error -m unittest discover -s tests", "python3 -m unittest discover -s tests"],
  ["uv run --extra dev pytest -x", "python3 -m pytest -x"],
  ["source .venv/bin/activate && DEBUG=1 timeout -k 5 60 pytest", "DEBUG=1 python3 -m pytest"],
  ["python manage.py test shop", "python3 manage.py test shop"],
  ["python run_tests.py --fast", "python3 run_tests.py --fast"],
  ["npm test -- --run", "npm test -- --run"],
  ["npm run test:unit", "npm run test:unit"],
  ["npm --prefix web test", "npm --prefix web test"],
  ["pnpm -r test", "pnpm -r test"],
  ["yarn test", "yarn test"],
  ["CI=1 npx vitest run src/a.test.ts", "npx --no-install vitest run src/a.test.ts"],
  ["pnpm exec jest a", "npx --no-install jest a"],
  ["npx -y mocha", "npx --no-install mocha"],
  ["node --test test/*.test.js", "node --test test/*.test.js"],
  ["node --import tsx --test a.ts", "node --import tsx --test a.ts"],
  ["go test ./... -run 'TestA|TestB'", "go test ./... -run 'TestA|TestB'"],
  ["cargo test --lib", "cargo test --lib"],
  ["cargo +nightly test", "cargo +nightly test"],
  ["make -C app check", "make -C app check"],
  ["just test-unit", "just test-unit"],
  ["task test:unit", "task test:unit"],
  ["mise run test", "mise run test"],
  ["./gradlew :app:test --offline", "./gradlew :app:test --offline"],
  ["mvn -q -o verify", "mvn -q -o verify"],
  ["dotnet test src/A.sln", "dotnet test src/A.sln"],
  ["bundle exec rspec spec/a_spec.rb", "bundle exec rspec spec/a_spec.rb"],
  ["vendor/bin/phpunit tests", "vendor/bin/phpunit tests"],
  ["bats tests", "bats tests"],
  ["tox -e py311", "tox -e py311"],
  ["./run_tests.sh -v", "./run_tests.sh -v"],
  ["bash scripts/test.sh", "bash scripts/test.sh"],
  ["time nice -n 5 env A=b make test", "A=b make test"],
])("%j runs tests, as %j", (line, text) => {
  expect(only(line).text).toBe(text);
});

test.each([
  "ls tests",
  "cat test_a.py",
  "pytest --version",
  "go test -run x -bench=. ./sts",
  "pytest --collect-only -q",
  "npm install vitest",
  "npm run build",
  "git commit -m 'pytest passes'",
  'echo "npm test"',
  "python -c 'import pytest'",
  "python script.py",
  "cargo build",
  "go build ./...",
  "make all",
  "task list",
  "mvn -q package",
  "dotnet build tests",
  "grep -rn test src",
  'pytest "$FILE"',
  "cd tests",
  "test -f a",
])("%j runs none", (line) => {
  expect(found(line)).toEqual([]);
});

describe("a command covers another", () => {
  test.each([
    ["pytest", "pytest tests/test_a.py", true],
    ["pytest tests", "pytest -q tests/test_a.py::test_one", true],
    ["pytest tests/test_a.py", "pytest tests/test_a.py::test_one", true],
    ["pytest tests/test_a.py", "pytest tests", false],
    ["pytest -k one", "pytest", false],
    ["pytest", "go test", false],
    ["npm test", "npm run test:unit", false],
  ])("%j %j: %j", (wide, narrow, does) => {
    expect(covers(only(wide), only(narrow))).toBe(does);
  });
});

test("what bounds, silences or follows a test command leaves it as it is", () => {
  const before = fc.constantFrom(
    "",
    "cd app && ",
    "timeout 60 ",
    "time ",
    "source venv/bin/activate; ",
    "export A=1 && nice -n 3 ",
  );
  const behind = fc.constantFrom(
    "",
    " 2>&1",
    " 2>&1 | tail -20",
    " > out.txt 2>&1; echo $?",
    " || true",
    " && git add -A",
    " | tee log | grep -c ok",
  );
  const commands = fc.constantFrom(
    "python3 -m pytest tests/test_a.py",
    "npm test",
    "go test ./...",
    "cargo test",
    "node --test a.js",
    "make check",
  );
  fc.assert(
    fc.property(before, commands, behind, (start, command, end) => {
      expect(found(start + command + end).map(({ text }) => text)).toEqual([command]);
    }),
  );
});
