/** A word as it is written, and without its quotes. */
export interface Word {
  readonly raw: string;
  readonly text: string;
}

/** What one simple command of a line holds. */
export interface Simple {
  readonly words: readonly Word[];
  /** Files that it writes by `>`; null for one that it appends to. */
  readonly into: string | null;
  /** The text that a here-document gives it, where its end is quoted: nothing in it is replaced. */
  readonly given: string | null;
}

/** Commands, and what stands between them: `&&`, `||`, `;` (a line's end too), `|`, `&`, `(`, `)`. */
export type Token = Simple | string;

const OPERATORS = ["&&", "||", "|&", ";;", ";", "|", "&", "(", ")", "\n"] as const;
const REDIRECTION = /^(?:\d*(?:>>|>\||>&|<&|<<<|<<-?|<>|>|<)|&>>?)/;
const BLANK = /^(?:[ \t]|\\\r?\n)+/;

/** From an opening `$(` or `(` to behind what closes it; the end of the text where nothing does. */
function closing(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const one = text[at];
    if (one === "\\") at++;
    else if (one === "'" || one === '"') at = Math.max(at, text.indexOf(one, at + 1));
    else if (one === "(") depth++;
    else if (one === ")" && --depth === 0) return at + 1;
  }
  return text.length;
}

/** The word that begins at a place, and where it ends; the place itself where none begins. */
function wordAt(text: string, from: number): { readonly word: Word; readonly end: number } {
  let cooked = "";
  let at = from;
  let inQuotes = false;
  while (at < text.length) {
    const one = text.charAt(at);
    if (one === '"') {
      inQuotes = !inQuotes;
      at++;
    } else if (one === "\\") {
      const next = text.charAt(at + 1);
      if (next !== "\n") cooked += inQuotes && !/["\\$`]/.test(next) ? one + next : next;
      at += 2;
    } else if (text.startsWith("$(", at)) {
      const end = closing(text, at + 1);
      cooked += text.slice(at, end);
      at = end;
    } else if (one === "`" || (one === "'" && !inQuotes)) {
      const end = text.indexOf(one, at + 1);
      const to = end < 0 ? text.length : end;
      cooked += one === "`" ? text.slice(at, to + 1) : text.slice(at + 1, to);
      at = to + 1;
    } else if (!inQuotes && /[\s;&|()<>]/.test(one)) break;
    else {
      cooked += one;
      at++;
    }
  }
  const end = Math.min(at, text.length);
  return { word: { raw: text.slice(from, end), text: cooked }, end };
}

interface Heredoc {
  readonly end: string;
  readonly isTabbed: boolean;
  take(body: string): void;
}

/** The bodies of the here-documents that a line announced, which begin behind it; gives where they end. */
function readBodies(text: string, from: number, waiting: readonly Heredoc[]): number {
  let at = from;
  for (const { end, isTabbed, take } of waiting) {
    const lines: string[] = [];
    while (at < text.length) {
      const to = text.indexOf("\n", at);
      const line = text.slice(at, to < 0 ? text.length : to);
      at = to < 0 ? text.length : to + 1;
      const bare = isTabbed ? line.replace(/^\t+/, "") : line;
      if (bare === end) break;
      lines.push(bare);
    }
    take(lines.map((line) => `${line}\n`).join(""));
  }
  return at;
}

/** What a shell reads of a text, in its order. Never throws: what a shell would refuse is read as far as it goes. */
export function shellTokens(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let words: Word[] = [];
  let into: string | null = null;
  let given: string | null = null;
  let waiting: Heredoc[] = [];
  let at = 0;
  /** A here-document's body comes behind its command's end. */
  const commands: { words: readonly Word[]; into: string | null; given: string | null }[] = [];
  const finish = (): void => {
    if (words.length > 0) {
      const command = { words, into, given };
      commands.push(command);
      tokens.push(command);
    }
    words = [];
    into = null;
    given = null;
  };
  while (at < text.length) {
    const rest = text.slice(at, at + 256);
    const blank = BLANK.exec(rest);
    const redirection = REDIRECTION.exec(rest);
    const operator = OPERATORS.find((one) => rest.startsWith(one));
    if (blank) at += blank[0].length;
    else if (rest.startsWith("#")) at = text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at);
    else if (redirection) {
      at += redirection[0].length;
      at += BLANK.exec(text.slice(at, at + 256))?.[0].length ?? 0;
      const { word, end } = wordAt(text, at);
      at = end;
      if (/^<<-?$/.test(redirection[0]) && word.text !== "") {
        const place = commands.length;
        const isQuoted = word.raw !== word.text;
        waiting.push({
          end: word.text,
          isTabbed: redirection[0] === "<<-",
          take: (body) => {
            const command = commands[place];
            if (command && isQuoted) command.given = body;
          },
        });
      } else if (/^1?>\|?$/.test(redirection[0])) into = word.text;
    } else if (operator !== undefined) {
      finish();
      at += operator.length;
      tokens.push(operator === "\n" || operator === ";;" ? ";" : operator === "|&" ? "|" : operator);
      if (operator === "\n" && waiting.length > 0) {
        at = readBodies(text, at, waiting);
        waiting = [];
      }
    } else {
      const { word, end } = wordAt(text, at);
      words.push(word);
      at = Math.max(end, at + 1);
    }
  }
  finish();
  return tokens;
}
