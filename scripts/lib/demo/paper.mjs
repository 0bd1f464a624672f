import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { createPaint } from "../../../packages/cli/dist/index.js";

const WIDTH = 100;

/** How the demo looks: numbered steps, dim remarks, answers behind a bar. */
export function createPaper(out, env) {
  const paint = createPaint(out, env);
  const line = (text = "") => out.write(`${text}\n`);
  let step = 0;
  return {
    paint,
    line,
    title: (text, remark) => {
      line();
      line(`  ${paint("bold", text)}`);
      line(`  ${paint("dim", remark)}`);
    },
    step: (text) => {
      step += 1;
      line();
      line(`${paint(["bold", "cyan"], `${step}`)}  ${paint("bold", text)}`);
    },
    item: (text) => line(`   ${text}`),
    remark: (text) => line(`   ${paint("dim", text)}`),
    /** What ended a demo before its end. */
    broken: (error, signal) => {
      line();
      line(signal.aborted ? "Interrupted. Nothing is left running." : `${paint("red", "The demo failed:")} ${error.message}`);
    },
    /** An answer of a model, the lines that `isTaught` marked. */
    answer: (name, text, isTaught) => {
      line();
      line(`   ${paint("bold", name)}`);
      const safe = stripVTControlCharacters(text).trimEnd();
      for (const row of safe.split("\n")) {
        const colour = isTaught(row) ? (part) => paint(["bold", "green"], part) : (part) => part;
        for (const part of fold(row)) line(`   ${paint("dim", "│")} ${colour(part)}`);
      }
    },
  };
}

const fold = (row) => (row.length <= WIDTH ? [row] : (row.match(new RegExp(`.{1,${WIDTH}}`, "gu")) ?? [row]));

/** A folder as one would type it from here. */
export const fromHere = (folder) => path.relative(process.cwd(), folder) || ".";
