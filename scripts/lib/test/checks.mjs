import path from "node:path";
import process from "node:process";

const MINUTE = 60_000;

/** Format, lint and types of both languages. `python` is the developers' environment. */
export function checks({ root, python }) {
  const bin = (...parts) => path.join(root, "node_modules", ...parts);
  const trainer = path.join(root, "trainer");
  const node = (name, file, args) => ({
    name,
    command: process.execPath,
    args: [file, ...args],
    cwd: root,
    timeoutMs: 5 * MINUTE,
  });
  const py = (name, args) => ({ name, command: python, args: ["-m", ...args], cwd: trainer, timeoutMs: 10 * MINUTE });
  return [
    node("types (tsc)", bin("typescript", "bin", "tsc"), ["-b"]),
    py("types (mypy)", ["mypy"]),
    node("format and lint (biome)", bin("@biomejs", "biome", "bin", "biome"), ["check", "--error-on-warnings", "."]),
    py("lint (ruff)", ["ruff", "check", ".", "../bench/python"]),
    py("format (ruff)", ["ruff", "format", "--check", ".", "../bench/python"]),
  ];
}

/** The set-up has just run: a second one must do nothing. */
export function secondSetup({ root }) {
  const args = [path.join(root, "scripts", "setup.mjs"), "--dev"];
  return {
    name: "a second set-up does nothing",
    command: process.execPath,
    args,
    cwd: root,
    timeoutMs: MINUTE,
    mustSay: "nothing to do",
  };
}
