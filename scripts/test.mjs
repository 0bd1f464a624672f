#!/usr/bin/env node
// npm test: set-up, format, lint, types and both test suites, their sum last; with `all` real coding agents too, with `checks` no tests.
import { nodeProblem } from "./lib/setup/node-version.mjs";

const problem = nodeProblem(process.versions.node);
if (problem) {
  console.error(problem);
  process.exitCode = 1;
} else {
  // Loaded after the check: these files use syntax that an old Node cannot parse.
  import("./lib/test/main.mjs")
    .then(({ main }) => main({ args: process.argv.slice(2) }))
    .then((code) => {
      process.exitCode = code;
    });
}
