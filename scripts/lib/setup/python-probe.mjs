import { run } from "../process/run.mjs";

export const OLDEST_PYTHON = [3, 11];
/** The first Python that the locked libraries have no wheels for. */
export const TOO_NEW_PYTHON = [3, 15];
/** `pip --python`, which installs into an environment that has no pip, came with 22.3. */
const PIP_WITH_PYTHON_OPTION = [22, 3];

const PROBE = `
import json, platform, sys, sysconfig
from importlib.util import find_spec
try:
    from importlib.metadata import version
    pip = version("pip") if find_spec("pip") else None
except Exception:
    pip = None
try:
    from ensurepip import bootstrap
except ImportError:
    bootstrap = None
print(json.dumps({
    "version": list(sys.version_info[:3]),
    "executable": sys.executable,
    "implementation": platform.python_implementation(),
    "bits": 64 if sys.maxsize > 2**32 else 32,
    "threads": "free" if sysconfig.get_config_var("Py_GIL_DISABLED") else "gil",
    "venv": find_spec("venv") is not None,
    "ensurepip": bootstrap is not None,
    "pip": pip,
}))
`;

/** What the interpreter behind `command` is, or null when there is none. */
export async function probePython(command, { env, signal }) {
  const [program, ...before] = command;
  try {
    const { stdout } = await run(program, [...before, "-c", PROBE], { env, signal, timeoutMs: 20_000 });
    return JSON.parse(stdout.trim().split("\n").at(-1));
  } catch (error) {
    if (error.name === "Interrupted") throw error;
    return null;
  }
}

/** Why an interpreter cannot be used, in a few words, or null. */
export function unfit(python) {
  const [major, minor] = python.version;
  const version = python.version.join(".");
  if (major !== 3 || minor < OLDEST_PYTHON[1]) return `${version} is too old`;
  if (minor >= TOO_NEW_PYTHON[1]) return `${version} is newer than the locked libraries know`;
  if (python.implementation !== "CPython") return `${version} is ${python.implementation}, not CPython`;
  if (python.bits !== 64) return `${version} is a 32-bit build`;
  if (python.threads === "free") return `${version} is a free-threaded build`;
  return null;
}

/** How pip gets into a new environment: Python's own ensurepip, the host's pip, or (null) not at all. */
export function pipSource(python) {
  if (!python.venv) return null;
  if (python.ensurepip) return "ensurepip";
  return python.pip !== null && atLeast(python.pip, PIP_WITH_PYTHON_OPTION) ? "host" : null;
}

function atLeast(version, [major, minor]) {
  const parts = version.split(".").map(Number);
  return parts[0] > major || (parts[0] === major && parts[1] >= minor);
}
