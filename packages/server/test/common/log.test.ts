import { expect, test } from "vitest";
import { createLog, plainLine } from "../../src/common/log.js";

test("on a terminal a line of the log is plain: when, how bad, what, with what", () => {
  const lines: string[] = [];
  const log = createLog("warn", { isTTY: true, write: (line: string) => lines.push(line) > 0 });
  log.info("a trainer is ready");
  log.warn({ removed: 2, job_id: "j" }, "removed what an earlier run left behind");
  log.error(
    { err: Object.assign(new Error("the disk is full"), { stack: "Error: the disk is full\n    at write (x.js:1:1)" }) },
    "DISK_FULL",
  );
  expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d /, ""))).toEqual([
    "warn removed what an earlier run left behind  removed=2  job_id=j\n",
    "error DISK_FULL  the disk is full\n  at write (x.js:1:1)\n",
  ]);
});

test("a line of the log sends no control characters to a terminal", () => {
  const line = JSON.stringify({ level: 40, time: 0, msg: "a \u001b[31mred\nline", name: "x\u0007y" });
  expect(plainLine(line).slice(9)).toBe("warn a  [31mred line  name=x y\n");
});
