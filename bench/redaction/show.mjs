#!/usr/bin/env node
// node bench/redaction/show.mjs NAME [PLACE] [SEED]: a text of the tune half as it is put there, and what is left of it.
import { importSessions } from "../../packages/sessions/dist/index.js";
import { importer } from "./candidates.mjs";
import { plainCases, secretCases } from "./cases.mjs";
import { half } from "./split.mjs";

const [name = "", place = "result", seed = "t1"] = process.argv.slice(2);
const named = (entry) => entry.name === name && half(entry) === "tune";
const one = [...secretCases(seed, named), ...plainCases(seed, named)].find((each) => each.place === place);
if (one === undefined) {
  console.error(`There is no "${name}" at "${place}" in the tune half.`);
  process.exitCode = 2;
} else {
  console.log(
    `${one.recording}\nmust go: ${JSON.stringify(one.pieces)}\n\n${await importer(importSessions).read(one.recording)}`,
  );
}
