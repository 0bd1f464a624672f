#!/usr/bin/env node
// Real coding agents, from their packages, edit a file through `imprint launch --record` against the real service: its model scripted,
// and once more with the default model, whose answers have to be understood.
import { main } from "./lib/agents/main.mjs";

process.exitCode = await main({ args: process.argv.slice(2) });
