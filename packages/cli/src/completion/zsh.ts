import type { Described, Flag } from "./describe.js";

/** Text within single quotes of the shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
/** `_arguments` gives brackets and colons a meaning. */
const escaped = (text: string): string => text.replaceAll(/[[\]:\\]/g, "\\$&");

const flagSpec = ({ name, description, takesValue, values }: Flag): string => {
  const value = values.length > 0 ? `:value:(${values.join(" ")})` : ":value:_files";
  // With "=" the value may stand behind it, or be the next word.
  return quoted(takesValue ? `${name}=[${escaped(description)}]${value}` : `${name}[${escaped(description)}]`);
};

const rest = ({ values }: Described): string => quoted(values.length > 0 ? `1:value:(${values.join(" ")})` : "*:file:_files");

const list = (commands: readonly Described[]): string =>
  commands.map(({ name, description }) => quoted(`${name}:${description.replaceAll(":", "\\:")}`)).join(" ");

function body(command: Described, indent: string): string {
  const own = `_arguments ${[...command.flags.map(flagSpec), rest(command)].join(" ")}`;
  return command.commands.length === 0 ? own : choose(command.commands, indent, own);
}

/** Completes the name of one of the commands, or what follows it. */
function choose(commands: readonly Described[], indent: string, otherwise: string): string {
  const inner = `${indent}  `;
  const cases = commands.map((command) => `${inner}${command.name}) ${body(command, inner)} ;;`);
  return `if (( CURRENT == 2 )); then
${inner}commands=(${list(commands)})
${inner}_describe command commands
${indent}else
${inner}shift words; (( CURRENT-- ))
${inner}case $words[1] in
${cases.join("\n")}
${inner}*) ${otherwise} ;;
${inner}esac
${indent}fi`;
}

export function zshCompletion(commands: readonly Described[]): string {
  return `#compdef imprint
# zsh completion of imprint, after compinit: eval "$(imprint completion zsh)"
_imprint() {
  local -a commands
  ${choose(commands, "  ", "_files")}
}
compdef _imprint imprint`;
}
