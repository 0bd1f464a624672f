#!/usr/bin/env node
// npm run guarantees [-- NUMBER...]: the tests of each promise, and that they find the change that breaks it. All of them take many minutes.
import process from "node:process";
import { main } from "./lib/guarantees/main.mjs";

process.exitCode = await main({ args: process.argv.slice(2) });
