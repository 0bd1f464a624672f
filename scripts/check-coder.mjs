#!/usr/bin/env node
// A real coder model from its name to a served adapter, in an empty home: pull, train, proof, evaluate, chats, agents, exports.
import { main } from "./lib/coder/main.mjs";

process.exitCode = await main();
