import path from "node:path";

// A caller's PYTHONPATH or a stray PIP_USER would leak foreign packages into the pinned environment.
const FOREIGN = [
  "PYTHONHOME",
  "PYTHONPATH",
  "PYTHONSTARTUP",
  "__PYVENV_LAUNCHER__",
  "VIRTUAL_ENV",
  "PIP_USER",
  "PIP_TARGET",
  "PIP_PREFIX",
];

/** The environment for Python's programs: the caller's, with what would redirect them left out. */
export function pythonEnv(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !FOREIGN.includes(name)));
}

/** The interpreter, or another program, of the virtual environment in `folder`. */
export function inVenv(folder, program = "python", platform = process.platform) {
  return platform === "win32" ? path.join(folder, "Scripts", `${program}.exe`) : path.join(folder, "bin", program);
}
