#!/usr/bin/env node
// npm run check: set-up, format, lint and types, without the tests.
import { nodeProblem } from "./lib/setup/node-version.mjs";

const problem = nodeProblem(process.versions.node);
if (problem) {
  console.error(problem);
  process.exitCode = 1;
} else {
  // Loaded after the check: these files use syntax that an old Node cannot parse.
  import("./lib/test/main.mjs")
    .then(({ main }) => main({ args: ["checks"] }))
    .then((code) => {
      process.exitCode = code;
    });
}
