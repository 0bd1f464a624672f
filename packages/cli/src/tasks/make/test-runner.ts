import path from "node:path";
import type { Word } from "./shell-words.js";

/** A command that runs tests. */
export interface TestCommand {
  /** What runs them: pytest, npm, go, ... */
  readonly runner: string;
  /** As a shell takes it, without what only bounds or wraps it. */
  readonly text: string;
  /** Which of the tests: paths and filters; empty where all. */
  readonly targets: readonly string[];
}

/** Programs in front of the one that counts, each with how its own options are told. */
const WRAPPERS: Readonly<Record<string, RegExp>> = {
  env: /^-[iu]?$/,
  command: /^-/,
  exec: /^-/,
  time: /^-p$/,
  nohup: /^$/,
  nice: /^(?:-n?\d*|\d+)$/,
  stdbuf: /^-[oie]/,
  sudo: /^-[A-Za-z]+$/,
  timeout: /^(?:-.*|\d+(?:\.\d+)?[smhd]?)$/,
  gtimeout: /^(?:-.*|\d+(?:\.\d+)?[smhd]?)$/,
};
/** What runs a program in an environment that it makes: the check finds what is installed where it runs. */
const ENVIRONMENTS = /^(?:uv|poetry|pipenv|pdm|rye|hatch)$/;
const WITH_VALUE = /^--(?:with|extra|group|python|project|directory|env-file|package)$|^-p$/;
const NO_RUN =
  /^(?:--version|--help|-h|-V|--collect-only|--co|--fixtures|--list|--listTests|--no-run|-bench(?:=.*)?|--init|--dry-run)$/;
const FILTERS = /^(?:-k|-m|-t|--grep|-g|-run|--test-name-pattern|--testNamePattern|-p|--package)$/;
const PYTHON = /^(?:python[\d.]*|py)$/;
const TEST_SCRIPT = /^(?:run[-_]?)?(?:all[-_]?|unit[-_]?)?tests?(?:[-_:]\w+)*$/;
const SCRIPT_FILE = /(?:^|\/)(?:(?:run[-_]?)?(?:all[-_]?)?tests?|tests?[-_][\w-]+|[\w-]+[-_.]tests?)\.(?:py|[cm]?js|ts|sh)$/;

const base = ({ text }: Word): string => path.posix.basename(text);

/** The words behind wrappers, and the variables that are set for them. */
function unwrapped(words: readonly Word[]): { readonly set: readonly Word[]; readonly rest: readonly Word[] } {
  const set: Word[] = [];
  let rest = [...words];
  for (let word = rest[0]; word !== undefined; word = rest[0]) {
    const options = WRAPPERS[word.text];
    if (/^[A-Za-z_]\w*=/.test(word.text)) {
      if (!/^(?:PATH|VIRTUAL_ENV|CI|FORCE_COLOR|NO_COLOR)=/.test(word.text)) set.push(word);
      rest = rest.slice(1);
    } else if (options !== undefined) {
      rest = rest.slice(1);
      while (rest[0] !== undefined && options.test(rest[0].text)) rest = rest.slice(1);
    } else if (ENVIRONMENTS.test(word.text) && rest[1]?.text === "run") {
      rest = rest.slice(2);
      while (rest[0]?.text.startsWith("-")) rest = rest.slice(WITH_VALUE.test(rest[0].text) ? 2 : 1);
    } else break;
  }
  return { set, rest };
}

const plainWord = (text: string): Word => ({ raw: text, text });
const words = (text: string): readonly Word[] => text.split(" ").map(plainWord);

/** What is called, in the words that name it everywhere, and what it is called with; null where it runs no tests. */
function runnerOf(rest: readonly Word[]): { runner: string; call: readonly Word[]; args: readonly Word[] } | null {
  const [first, ...args] = rest;
  if (first === undefined) return null;
  const program = base(first);
  const isFree = (word: Word | undefined): word is Word => word !== undefined && !word.text.startsWith("-");
  if (PYTHON.test(program)) {
    const module = args.findIndex(({ text }) => text === "-m");
    const name = args[module + 1]?.text ?? "";
    if (module >= 0 && /^(?:pytest|unittest|tox|nose2?)$/.test(name))
      return { runner: name, call: words(`python3 -m ${name}`), args: args.slice(module + 2) };
    const script = args.findIndex(isFree);
    const file = args[script];
    if (module >= 0 || file === undefined) return null;
    if (base(file) === "manage.py" && args[script + 1]?.text === "test")
      return { runner: "django", call: [plainWord("python3"), file, plainWord("test")], args: args.slice(script + 2) };
    return SCRIPT_FILE.test(file.text)
      ? { runner: `python3 ${file.text}`, call: [plainWord("python3"), file], args: args.slice(script + 1) }
      : null;
  }
  if (program === "pytest" || program === "py.test") return { runner: "pytest", call: words("python3 -m pytest"), args };
  if (/^(?:tox|bats|nox)$/.test(program)) return { runner: program, call: words(program), args };
  if (/^(?:vitest|jest|mocha|ava)$/.test(program)) return { runner: program, call: words(`npx --no-install ${program}`), args };
  if (/^(?:npx|bunx|pnpx)$/.test(program) || (/^(?:pnpm|yarn|npm)$/.test(program) && args[0]?.text === "exec")) {
    const inner = (program.endsWith("x") ? args : args.slice(1)).filter((_, at, all) => all.slice(0, at + 1).some(isFree));
    return runnerOf(inner);
  }
  if (/^(?:npm|yarn|pnpm|bun)$/.test(program)) {
    const at = args.findIndex(({ text }, place) => TEST_SCRIPT.test(text) && args[place - 1]?.text !== "-w");
    const before = args.slice(0, at).filter(({ text }) => !["run", "run-script", "-s", "--silent"].includes(text));
    const isScript = at >= 0 && before.every((word, place) => !isFree(word) || !isFree(before[place - 1] ?? plainWord("x")));
    if (!isScript && !(program === "npm" && args[0]?.text === "t")) return null;
    const to = Math.max(at, 0) + 1;
    return { runner: `${program} ${args[to - 1]?.text}`, call: [plainWord(program), ...args.slice(0, to)], args: args.slice(to) };
  }
  if (program === "node" || program === "tsx" || program === "deno") {
    if (args.some(({ text }) => text === "--test")) return { runner: "node --test", call: words(program), args };
    if (program === "deno")
      return args[0]?.text === "test" ? { runner: "deno", call: words("deno test"), args: args.slice(1) } : null;
    const file = args.find(isFree);
    return file && SCRIPT_FILE.test(file.text) ? { runner: `node ${file.text}`, call: words(program), args } : null;
  }
  if (program === "go" && args[0]?.text === "test") return { runner: "go", call: words("go test"), args: args.slice(1) };
  if (program === "cargo") {
    const at = args.findIndex(({ text }) => text === "test" || text === "nextest" || text === "t");
    return at < 0 || at > 1
      ? null
      : { runner: "cargo", call: [plainWord("cargo"), ...args.slice(0, at + 1)], args: args.slice(at + 1) };
  }
  if (program === "bundle" && args[0]?.text === "exec") {
    const inner = runnerOf(args.slice(1));
    return inner && { ...inner, call: [...words("bundle exec"), ...inner.call] };
  }
  const isCheck = ({ text }: Word): boolean =>
    TEST_SCRIPT.test(text.replace(/^.*:(?=test)/, "")) || /^(?:check(?:[-_]\w+)*|verify)$/.test(text);
  if (
    /^(?:ctest|phpunit|rspec)$/.test(program) ||
    (/^(?:dotnet|mix|swift)$/.test(program) && args[0]?.text === "test") ||
    (/^(?:make|just|task|mise|rake|mvnw?|gradlew?)$/.test(program) && args.some(isCheck))
  )
    return { runner: program, call: [first], args };
  const script = /^(?:ba|z|da)?sh$/.test(program) ? args.find(isFree) : first;
  if (script === undefined || (script === first && !script.text.includes("/")) || !isTestScript(script.text)) return null;
  const call = script === first ? [first] : [first, script];
  return { runner: script.text, call, args: args.filter((one) => one !== script) };
}

const isTestScript = (file: string): boolean => SCRIPT_FILE.test(file) || TEST_SCRIPT.test(path.posix.basename(file));

/** A filter and its value are one target; so is each path. */
function targetsOf(args: readonly Word[]): readonly string[] {
  return args.flatMap(({ text }, at) => {
    const before = args[at - 1]?.text ?? "";
    if (FILTERS.test(before)) return [`${before} ${text}`];
    return text.startsWith("-") || /^\d+$/.test(text) ? [] : [text.replace(/\/$/, "")];
  });
}

/** The test command in a command's words; null where it is none, or holds what only its own shell knew. */
export function testCommand(given: readonly Word[]): TestCommand | null {
  const { set, rest } = unwrapped(given);
  const found = runnerOf(rest);
  if (found === null || [...set, ...rest].some(({ raw }) => /[$`]/.test(raw) && !raw.startsWith("'"))) return null;
  if (found.args.some(({ text }) => NO_RUN.test(text))) return null;
  const text = [...set, ...found.call, ...found.args].map(({ raw }) => raw).join(" ");
  return { runner: found.runner, text, targets: targetsOf(found.args) };
}

/** Whether every test that the second runs is one of the first's. */
export function covers(wide: TestCommand, narrow: TestCommand): boolean {
  if (wide.runner !== narrow.runner) return false;
  if (wide.targets.length === 0) return true;
  const within = (target: string): boolean =>
    wide.targets.some((one) => target === one || target.startsWith(`${one}/`) || target.startsWith(`${one}::`));
  return narrow.targets.length > 0 && narrow.targets.every(within);
}
