#!/usr/bin/env node
// Part of the checkout, because npm links commands before there is a bundle.
import { existsSync } from "node:fs";

const program = new URL("../bundle/main.js", import.meta.url);
if (existsSync(program)) {
  await import(program.href);
} else {
  process.stderr.write("error: Imprint is not set up here: run npm run setup first.\n");
  process.exitCode = 1;
}
