import { stripVTControlCharacters } from "node:util";

/** Text of a program made fit for logs and terminals: no escape sequences, no control characters but newline and tab. */
export function readable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  return stripVTControlCharacters(text.replace(/\r\n?/g, "\n")).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

/** Absolute paths cut down to their last part: error messages leave the machine. */
export function withoutPaths(text: string): string {
  return text.replace(/(?<![\w.:/\\])(?:[A-Za-z]:)?(?:[\\/][^\\/\s'":,;()<>|]+){2,}/g, (path) =>
    path.slice(path.search(/[^\\/]+$/)),
  );
}
