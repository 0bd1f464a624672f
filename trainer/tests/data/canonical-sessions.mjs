#!/usr/bin/env node
// Prints every recorded session under the given folders as canonical JSON, one a line.
import { canonicalLines } from "../../../scripts/lib/canonical-sessions.mjs";

for (const root of process.argv.slice(2)) for await (const line of canonicalLines(root)) process.stdout.write(line);
