import path from "node:path";
import { type Simple, shellTokens, type Word } from "./shell-words.js";

/** A command that a shell call ran. */
export interface ShellCommand extends Simple {
  /** The folder that it ran in. */
  readonly folder: string;
  /** What the line's exit code says of it: how it ended; that it passed, where the line did; nothing. */
  readonly told: "end" | "success" | "nothing";
}

export interface ShellLine {
  readonly commands: readonly ShellCommand[];
  /** Where the line leaves the shell. */
  readonly folder: string;
}

const { posix } = path;
const SHELLS = new Set(["bash", "sh", "zsh", "dash"]);

/** The script in `bash -lc SCRIPT`; null in any other command. */
function scriptOf([program, ...rest]: readonly Word[]): string | null {
  if (program === undefined || !SHELLS.has(posix.basename(program.text))) return null;
  const flag = rest.findIndex(({ text }) => /^-[a-z]*c$/.test(text));
  return flag < 0 ? null : (rest[flag + 1]?.text ?? null);
}

/** Where a `cd` leads: a home folder is nobody's that is known. */
const entered = (folder: string, [, target]: readonly Word[]): string =>
  target === undefined || target.text === "-" ? folder : posix.resolve(folder, target.text);

const weaker = (left: ShellCommand["told"], right: ShellCommand["told"]): ShellCommand["told"] =>
  left === "nothing" || right === "nothing" ? "nothing" : left === "success" ? "success" : right;

/** The commands of a shell call that starts in a folder, those of `bash -c` too. */
export function commandsOf(line: string, folder: string, depth = 0): ShellLine {
  const tokens = shellTokens(line);
  const commands: ShellCommand[] = [];
  const around: string[] = [];
  const last = tokens.findLastIndex((token) => typeof token !== "string");
  let at = folder;
  tokens.forEach((token, index) => {
    if (token === "(") around.push(at);
    if (token === ")") at = around.pop() ?? at;
    if (typeof token === "string") return;
    const [first] = token.words;
    if (first?.text === "cd" && tokens[index + 1] !== "|") at = entered(at, token.words);
    const behind = tokens.slice(index + 1, last).filter((one) => typeof one === "string" && one !== ")" && one !== "(");
    const isEnd = index === last && !tokens.includes("&", index);
    const told = isEnd ? "end" : index < last && behind.every((one) => one === "&&") ? "success" : "nothing";
    const script = depth < 3 ? scriptOf(token.words) : null;
    if (script === null) commands.push({ ...token, folder: at, told });
    else for (const one of commandsOf(script, at, depth + 1).commands) commands.push({ ...one, told: weaker(told, one.told) });
  });
  return { commands, folder: at };
}
