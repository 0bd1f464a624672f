import type { Described, Flag } from "./describe.js";

const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;

const flagLine = (condition: string, { name, description, takesValue, values }: Flag): string => {
  const value = values.length > 0 ? ` -x -a ${quoted(values.join(" "))}` : takesValue ? " -r" : "";
  return `complete -c imprint -n ${quoted(condition)} -l ${name.slice(2)} -d ${quoted(description)}${value}`;
};

function lines(command: Described, condition: string): readonly string[] {
  const names = command.commands.map(({ name }) => name).join(" ");
  const open = names === "" ? condition : `${condition}; and not __fish_seen_subcommand_from ${names}`;
  return [
    ...command.flags.map((flag) => flagLine(open, flag)),
    ...(command.values.length > 0 ? [`complete -c imprint -n ${quoted(open)} -f -a ${quoted(command.values.join(" "))}`] : []),
    ...command.commands.flatMap((inner) => [
      `complete -c imprint -n ${quoted(open)} -f -a ${inner.name} -d ${quoted(inner.description)}`,
      ...lines(inner, `${condition}; and __fish_seen_subcommand_from ${inner.name}`),
    ]),
  ];
}

export function fishCompletion(commands: readonly Described[]): string {
  const top = commands.map(
    ({ name, description }) => `complete -c imprint -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
  );
  // The first word only: a session may be called like a command.
  const inside = (name: string): string => `test (count (commandline -opc)) -gt 1; and test (commandline -opc)[2] = ${name}`;
  return [
    "# fish completion of imprint: imprint completion fish | source",
    ...top,
    ...commands.flatMap((command) => lines(command, inside(command.name))),
  ].join("\n");
}
