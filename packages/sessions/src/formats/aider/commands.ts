/** Commands that aider itself carries out. */
const LOCAL =
  "add chat-mode clear commit copy copy-context diff drop edit editor editor-model exit git lint load ls map map-refresh model models multiline-mode paste quit read-only reasoning-effort report reset run save settings test think-tokens tokens undo voice weak-model web".split(
    " ",
  );

const COMMAND = /^\/([a-z-]+)(?=\s|$)/;
const SHELL = /^![^\s]/;

/** Whether a person's line is for aider and not for the model. aider takes any beginning of a command's name for it. */
export function isLocalCommand(text: string): boolean {
  if (SHELL.test(text)) return true;
  const name = COMMAND.exec(text)?.[1];
  if (name === undefined) return false;
  // `/help` answers by itself; with a question it asks the model.
  if (name === "help") return text.trim() === "/help";
  return LOCAL.some((command) => command === name || (name.length > 1 && command.startsWith(name)));
}

/** What a person's line has aider run, as a terminal shows it. */
export function commandRun(text: string): string {
  const command = /^(?:\/(?:test|run)\s|!)\s*(\S.*)/.exec(text)?.[1];
  return command === undefined ? "" : `$ ${command}`;
}
