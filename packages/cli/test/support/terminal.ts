import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { MAIN } from "./build.js";

const word = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Runs the real command on a terminal, where a person answers each question once it is asked; resolves with all that was said. */
export function onTerminal(
  args: readonly string[],
  { env, answers }: { readonly env: Readonly<Record<string, string>>; readonly answers: readonly string[] },
): Promise<string> {
  const { PATH = "", HOME = "" } = process.env;
  const line = [process.execPath, MAIN, ...args].map(word).join(" ");
  const child = spawn("script", ["-qec", line, "/dev/null"], { env: { PATH, HOME, ...env } });
  const left = [...answers];
  let said = "";
  let asked = 0;
  child.stdout.on("data", (piece) => {
    said += stripVTControlCharacters(String(piece));
    const unanswered = said.slice(asked);
    if (!/\[[^\]]*\] $/.test(unanswered)) return;
    asked = said.length;
    child.stdin.write(`${left.shift() ?? ""}\n`);
  });
  return new Promise((ended) => child.once("close", () => ended(said)));
}
