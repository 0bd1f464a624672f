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
  [/^vitest\.[a-z.]*config\.ts$/, "vitest looks for it by its name"],
];

/** Why a file may be small; undefined where nobody has said so. */
export const reasonOf = (path) => REASONS.find(([pattern]) => pattern.test(path))?.[1];
