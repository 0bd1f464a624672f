import { escaped } from "./expressions.js";
import { type Finder, type Hit, hitsAt } from "./hit.js";

/** Kinds whose values become stand-ins that look like them: names of accounts. */
const HOME_PATH = "home-path";
const ACCOUNT_NAME = "account-name";
export const isAccount = (kind: string): boolean => kind === HOME_PATH || kind === ACCOUNT_NAME;

/** Accounts of images, services and build machines, agents, words that stand for a name, and stand-ins of ours. */
const NOBODY =
  /^(?:dev\d*|users?|username|user\d|name|you|your[a-z_-]*|me|my[a-z_-]*|node|ubuntu|debian|fedora|centos|alpine|pi|runner(?:admin)?|runneruser|vsts[a-z_]*|containeradministrator|containeruser|administrator|vscode|app|appuser|admin|root|default(?:user\d*)?|public|all|shared|guest|example|test(?:er|user)?|ec2-user|azureuser|opc|vagrant|docker|container|openhands|swe-?agent|agent|claude|codex|cursor|devin|copilot|assistant|jovyan|linuxbrew|homebrew|coder|codespace|gitpod|circleci|jenkins|travis|buildkite-agent|buildbot|builder|build|ci|git|gitlab-runner|github|work(?:space|er)?|project|projects|repo|repos|src|code|site|sites|data|index|about|page|pages|dashboard|home|main|view|settings|profile|screen|nobody|nonroot|www|www-data|nginx|apache|postgres|mysql|redis|mongodb?|rabbitmq|elasticsearch|kafka|airflow|spark|hadoop|hdfs|python|ruby|go|rust|java|deploy(?:er)?|service|sandbox|nixbld\d*|nix|abuild|makepkg|somebody|someone|foo|bar|baz|usr|new|old|me2|lib|bin|etc|var|tmp|opt)$/i;
const NAME = /[A-Za-z0-9][A-Za-z0-9._-]{0,63}(?=[/\\\s"'`:;,)\]}<>|&?*@]|$)/y;
/** What may stand before `/home/`: no name of a folder or host. */
const INSIDE_PATH = /[A-Za-z0-9_.~/-]$/;
const OUTSIDE = /(?:file:\/\/|\\[nrtbf]|\/mnt\/[a-z]|\/host|\/cygdrive\/[a-z]|\/[a-z])$/;
const DRIVE = /(?:[A-Za-z]:|\/mnt\/[a-z])\\{1,8}$/;

function homeAt(text: string, at: number, needle: string): Hit | null {
  const isWindows = needle.startsWith("\\");
  const before = text.slice(Math.max(0, at - 12), at);
  if (isWindows ? !DRIVE.test(`${before}\\`) : INSIDE_PATH.test(before) && !OUTSIDE.test(before)) return null;
  let start = at + needle.length;
  while (isWindows && text[start] === "\\") start++;
  NAME.lastIndex = start;
  const name = NAME.exec(text)?.[0].replace(/\.+$/, "");
  return name === undefined || NOBODY.test(name) ? null : { start, end: start + name.length, kind: HOME_PATH };
}

/** `Users` is looked for without its slash, which stands in every other line of code. */
function usersAt(text: string, at: number): Hit | null {
  const needle = text.slice(at - 1, at + 6);
  return needle === "/Users/" || needle === "\\Users\\" ? homeAt(text, at - 1, needle) : null;
}

/** A folder named after a path, as agents keep their recordings: `-Users-<name>-project`. */
const SLUG = /(?<=(?:^|[\s/"'`~])-{1,2}(?:home|Users)-)[A-Za-z0-9][A-Za-z0-9._]{0,63}(?=-)/g;
/** What stands before the owner in a listing of `ls -l`: permissions and the count of links. */
const LISTED = "[dlbcps-](?:[r-][w-][xsStT-]){3}[.+@]?[ \\t]{1,8}\\d{1,8}[ \\t]{1,8}";
const OWNER = new RegExp(`(?<=${LISTED})[a-z][a-z0-9._-]{1,31}(?=[ \\t]+[a-z_][\\w.-]*[ \\t]+\\d)`, "g");
/** Accounts of the system itself. */
const SYSTEM =
  /^(?:_.*|systemd-.*|daemon|sys|sync|games|man|lp|mail|news|uucp|proxy|backup|list|irc|gnats|messagebus|syslog|sshd|adm|staff|wheel|nfsnobody)$/;

function named(text: string, pattern: RegExp): Hit[] {
  return [...text.matchAll(pattern)].flatMap(({ index, 0: name }) =>
    NOBODY.test(name) || SYSTEM.test(name) ? [] : [{ start: index, end: index + name.length, kind: ACCOUNT_NAME }],
  );
}

/** Account names by their home folders (`/home/<name>`, `/Users/<name>`, `C:\Users\<name>`), by folders named after these, and by listings. */
export const findAccounts: Finder = ({ text }) => [
  ...hitsAt(text, "/home/", (at) => homeAt(text, at, "/home/")),
  ...hitsAt(text, "Users", (at) => usersAt(text, at)),
  ...(text.includes("-Users-") || text.includes("-home-") ? named(text, SLUG) : []),
  ...(text.includes("rw-") || text.includes("rwx") ? named(text, OWNER) : []),
];

/** A name that means nothing else stands for its account wherever it is a word of its own. */
const isTelling = (name: string): boolean => name.length >= 8 || (name.length >= 5 && /[\d._-]/.test(name));

/** Where an account's name stands beside its home folder: listings, prompts, variables, folders named after paths. */
export function nameHits(names: readonly string[]): (text: string) => readonly Hit[] {
  if (names.length === 0) return () => [];
  const any = `(?:${names.map(escaped).join("|")})`;
  const telling = names.filter(isTelling).map(escaped).join("|");
  const places = [
    `(?<=-(?:home|Users)-)${any}(?=-|\\b)`,
    `(?<=${LISTED})${any}(?=[ \\t])`,
    `(?<=${LISTED}\\S{1,64}[ \\t]{1,8})${any}(?=[ \\t])`,
    `(?<=\\b(?:USER|USERNAME|LOGNAME|SUDO_USER|user|username|whoami|owner|login|uid=\\d{1,8}|gid=\\d{1,8}|groups=\\d{1,8})["']?[=:( ][ \\t]?["']?)${any}\\b`,
    `(?<![\\w.-])${any}(?=@[A-Za-z][\\w.-]*)`,
    `(?<=(?:^|[\\s"'=:(])~)${any}(?=/|\\s|$)`,
    `(?<=\\b(?:chown(?: -R)?|su -|sudo -u|-u|id|finger|passwd)[ ])${any}\\b`,
    `(?<=/(?:media|run/media|var/mail|var/spool/mail|run/user|private/var/folders)/)${any}\\b`,
    ...(telling === "" ? [] : [`(?<![A-Za-z0-9])(?:${telling})(?![A-Za-z0-9])`]),
  ];
  const pattern = new RegExp(`(?=${any})(?:${places.join("|")})`, "gm"); // what is before a place is looked at where a name is
  const present = new RegExp(any);
  return (text) =>
    present.test(text)
      ? [...text.matchAll(pattern)].map((match) => ({
          start: match.index,
          end: match.index + match[0].length,
          kind: ACCOUNT_NAME,
        }))
      : [];
}
