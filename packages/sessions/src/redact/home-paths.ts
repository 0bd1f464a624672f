import { type Finder, type Hit, hitsAt } from "./hit.js";

/** Accounts of images and services, and words that stand for a name. */
const NOBODY =
  /^(?:user|username|users?|name|you|your[a-z_-]*|me|node|ubuntu|runner|vscode|app|admin|root|default|public|shared|guest|example|test|ec2-user|vagrant|docker|openhands|jovyan|linuxbrew|coder|git|work|site|data|index|about|page|pages|dashboard|home|main|view|settings|profile|screen)$/i;
const NAME = /[A-Za-z0-9][A-Za-z0-9._-]{0,63}(?=[/\\\s"'`:;,)\]}<>|&?*]|$)/y;
/** What may stand before `/home/`: no name of a folder or host. */
const INSIDE_PATH = /[A-Za-z0-9_.~/-]$/;
const OUTSIDE = /(?:file:\/\/|\\[nrtbf]|\/mnt\/[a-z]|\/host)$/;
const DRIVE = /(?:[A-Za-z]:|\/mnt\/[a-z])\\{1,4}$/;

function homeAt(text: string, at: number, needle: string): Hit | null {
  const isWindows = needle.startsWith("\\");
  const before = text.slice(Math.max(0, at - 8), at);
  if (isWindows ? !DRIVE.test(`${before}\\`) : INSIDE_PATH.test(before) && !OUTSIDE.test(before)) return null;
  let nameAt = at + needle.length;
  while (isWindows && text[nameAt] === "\\") nameAt++;
  NAME.lastIndex = nameAt;
  const name = NAME.exec(text)?.[0].replace(/\.+$/, "");
  if (name === undefined || NOBODY.test(name)) return null;
  const drive = isWindows ? (/[A-Za-z]:\\{0,4}$/.exec(before)?.[0].length ?? 0) : 0;
  return { start: at - drive, end: nameAt + name.length, kind: "home-path" };
}

/** `Users` is looked for without its slash, which stands in every other line of code. */
function usersAt(text: string, at: number): Hit | null {
  const needle = text.slice(at - 1, at + 6);
  return needle === "/Users/" || needle === "\\Users\\" ? homeAt(text, at - 1, needle) : null;
}

/** Paths of home folders, up to and with the person's name. */
export const findHomePaths: Finder = ({ text }) => [
  ...hitsAt(text, "/home/", (at) => homeAt(text, at, "/home/")),
  ...hitsAt(text, "Users", (at) => usersAt(text, at)),
];
