import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Runs every attempt of a project against its checks, each in an empty folder, and returns what python3 really said. */
export function runAttempts(project) {
  const names = readdirSync(path.join(project, "attempts")).sort();
  return names.map((name, index) => {
    const folder = mkdtempSync(path.join(tmpdir(), "imprint-example-"));
    try {
      cpSync(path.join(project, "attempts", name), path.join(folder, "gates.py"));
      cpSync(path.join(project, "check_gates.py"), path.join(folder, "check_gates.py"));
      const run = spawnSync("python3", ["check_gates.py"], { cwd: folder, encoding: "utf8", timeout: 30_000 });
      if (run.error) throw new Error(`python3 did not run: ${run.error.message}`);
      return {
        attempt: index + 1,
        generated_code: readFileSync(path.join(folder, "gates.py"), "utf8"),
        stdout: run.stdout,
        stderr: run.stderr,
        exit_code: run.status,
        tests_passed: run.status === 0,
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
