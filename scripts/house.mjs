#!/usr/bin/env node
// npm run house: how large the product is, and how it hangs together, against scripts/lib/house/bounds.mjs.
// npm run house -- walk lora: what one reads to follow a LoRA training.
import process from "node:process";
import { fileURLToPath } from "node:url";
import { boundsOf } from "./lib/house/bounds.mjs";
import { measureHouse } from "./lib/house/measure.mjs";
import { overBound, report } from "./lib/house/report.mjs";
import { walkLora } from "./lib/house/walk.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const args = process.argv.slice(2);
if (args.length > 0 && args.join(" ") !== "walk lora") {
  console.error("usage: npm run house [-- walk lora]");
  process.exitCode = 2;
} else {
  const measured = args.length > 0 ? walkLora(root) : measureHouse(root);
  console.log(report(measured));
  if (boundsOf(measured.figures).some(overBound)) process.exitCode = 1;
}
