#!/usr/bin/env node
// Real coding agents, from their packages, edit a file through `imprint launch --record` against the real service with a scripted model.
import { checkAgents } from "./lib/agents/check.mjs";

process.exitCode = await checkAgents({ names: process.argv.slice(2) });
