#!/usr/bin/env node
// npm run setup: makes a fresh clone ready. Does nothing when it is.
import { nodeProblem } from "./lib/setup/node-version.mjs";

const problem = nodeProblem(process.versions.node);
if (problem) {
  console.error(problem);
  process.exitCode = 1;
} else {
  // Loaded after the check: these files use syntax that an old Node cannot parse.
  import("./lib/setup/main.mjs")
    .then(({ main }) => main({ args: process.argv.slice(2) }))
    .then((code) => {
      process.exitCode = code;
    });
}
