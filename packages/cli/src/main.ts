#!/usr/bin/env node
import { systemIo } from "./io.js";
import { run } from "./run.js";

process.exitCode = await run(process.argv.slice(2), systemIo());
