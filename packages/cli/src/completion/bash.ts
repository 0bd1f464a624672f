import type { Described } from "./describe.js";

interface Place {
  /** The words that lead to the command. */
  readonly path: string;
  readonly command: Described;
}

const places = (commands: readonly Described[], before = ""): readonly Place[] =>
  commands.flatMap((command) => {
    const path = `${before}${command.name}`;
    return [{ path, command }, ...places(command.commands, `${path} `)];
  });

const words = ({ commands, values, flags }: Described): string =>
  [...commands.map(({ name }) => name), ...values, ...flags.map(({ name }) => name)].join(" ");

/** Names are made of letters, digits and dashes: nothing here needs quotes but the spaces between words. */
export function bashCompletion(commands: readonly Described[]): string {
  const all = places(commands);
  const groups = commands.filter((command) => command.commands.length > 0).map(({ name }) => name);
  const ofFlags = all.flatMap(({ path, command }) =>
    command.flags
      .filter(({ takesValue }) => takesValue)
      .map(({ name, values }) => `    "${path} ${name}") words="${values.join(" ")}" ;;`),
  );
  const ofCommands = all.map(({ path, command }) => `        "${path}") words="${words(command)}" ;;`);
  return `# bash completion of imprint: eval "$(imprint completion bash)"
_imprint() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" place="" words=""
  (( COMP_CWORD > 1 )) && place="\${COMP_WORDS[1]}"
  case "$place" in
    ${groups.join("|")}) (( COMP_CWORD > 2 )) && [[ "\${COMP_WORDS[2]}" != -* ]] && place="$place \${COMP_WORDS[2]}" ;;
  esac
  case "$place $previous" in
${ofFlags.join("\n")}
    *)
      case "$place" in
        "") words="${commands.map(({ name }) => name).join(" ")} --help --version" ;;
${ofCommands.join("\n")}
      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ \${#COMPREPLY[@]} -eq 0 && "$current" != -* ]] && COMPREPLY=($(compgen -f -- "$current"))
  return 0
}
complete -o filenames -F _imprint imprint`;
}
