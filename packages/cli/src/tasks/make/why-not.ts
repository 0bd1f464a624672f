import type { SandboxEnd } from "../sandbox.js";

const MOST_FOLDERS = 8;
const MISSING_PROGRAM = /(?:^|\n)(?:\S*: (?:line )?(?:\d+: )?)?(\S+): (?:command )?not found|env: '?([^':]+)'?: No such file/;
const MISSING_MODULE =
  /No module named '?([\w.]+)|Cannot find (?:module|package) '([^']+)'|no required module provides package (\S+?);|no matching package named `(\S+)`|npx canceled due to missing packages[^[]*\["?([\w@/.-]+)/;
const NETWORK =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|Temporary failure in name resolution|Could not resolve host|Network is unreachable|Failed to resolve|dial tcp|failed to (?:download|fetch)|spurious network error/i;

/** Folders of the repository that have a Python module which a check does not find: where it was developed, it was installed from one. */
export function foldersOfOwn({ stdout, stderr }: SandboxEnd, known: ReadonlySet<string>): readonly string[] {
  const [, name] = /No module named '(\w+)/.exec(`${stderr}\n${stdout}`) ?? [];
  const ends = name === undefined ? [] : [`${name}.py`, `${name}/__init__.py`];
  const found = [...known].flatMap((file) => {
    const end = ends.find((one) => file === one || file.endsWith(`/${one}`));
    return end === undefined ? [] : [file.slice(0, -end.length).replace(/\/$/, "")];
  });
  return [...new Set(found)].slice(0, MOST_FOLDERS);
}

const first = (found: RegExpExecArray | null): string | undefined => found?.slice(1).find((one) => one !== undefined);

/** Why a check did not pass that should, as a sentence's part. */
export function whyNot({ code, stopped, stdout, stderr }: SandboxEnd): string {
  const said = `${stderr}\n${stdout}`;
  if (stopped === "seconds") return "it did not end within its time";
  if (stopped !== null) return `it was stopped by the sandbox (${stopped})`;
  const [program, module] = [code === 127 ? first(MISSING_PROGRAM.exec(said)) : undefined, first(MISSING_MODULE.exec(said))];
  if (code === 127) return `it needs a program that is not here${program === undefined ? "" : ` (${program})`}`;
  if (module !== undefined) return `it needs a module that is not installed here (${module})`;
  if (NETWORK.test(said)) return "it needs the network, which a check never has";
  return `it ends with ${code}`;
}
