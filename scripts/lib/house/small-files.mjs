/** Product files of fewer lines are listed, unless a reason stands here. */
export const SMALL = 15;

const REASONS = [
  [/\/__(init|main)__\.py$/, "Python looks for it by its name"],
  [/^scripts\/[a-z-]+\.mjs$/, "a command of package.json, whose parts are in scripts/lib"],
  [/^packages\/cli\/bin\/imprint\.mjs$/, "the file that npm links as the command"],
  [/^packages\/[a-z]+\/src\/(index|main)\.ts$/, "the package's entry"],
  [/^packages\/server\/src\/(configuration|stored)\.ts$/, "an entry of the package, for programs that do not load the service"],
  [/\/migrations\/\d{3}-[a-z-]+\.ts$/, "one migration a file: it never changes once it has run"],
  [/\.d\.ts$/, "TypeScript reads declarations from a file of their own"],
  [
    /^packages\/cli\/src\/(doctor\/check|files\/candidate)\.ts$/,
    "what files of a folder hand each other; in one of them, they would import in a circle",
  ],
  [/^packages\/contracts\/src\/health\.ts$/, "an answer of the API, under the name of its route"],
  [/^packages\/web\/src\/text\/plain\.ts$/, "every page that shows a foreign text imports it, and nothing else with it"],
  [/^packages\/web\/src\/adapters\/fetch-record\.ts$/, "asks the service; what it reads is beside it, and needs no browser"],
  [/^packages\/sessions\/src\/values\/(failed|refused)\.ts$/, "a list of agents' words, which a new agent is added to"],
  [/^packages\/sessions\/src\/session-unreadable\.ts$/, "the one error of the package, which every part of it throws"],
  [/^packages\/sessions\/src\/source\/source-file\.ts$/, "what every import is given: a name and bytes"],
  [/^bench\/benchmarks\.mjs$/, "the list of benchmarks, which a new one is added to"],
  [/^scripts\/lib\/setup\/root\.mjs$/, "bundled with the demo, which must not bring the set-up along"],
  [/^scripts\/lib\/setup\/node-version\.mjs$/, "a Node too old for the rest reads it"],
  [/^vitest\.[a-z.]*config\.ts$/, "vitest looks for it by its name"],
];

/** Why a file may be small; undefined where nobody has said so. */
export const reasonOf = (path) => REASONS.find(([pattern]) => pattern.test(path))?.[1];
