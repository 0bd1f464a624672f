import { existsSync } from "node:fs";
import { SetupFailure } from "../process/failures.mjs";
import { OLDEST_PYTHON, pipSource, probePython, TOO_NEW_PYTHON, unfit } from "./python-probe.mjs";

const NAMES = ["python3.13", "python3.12", "python3.11", "python3.14", "python3", "python"];
const RANGE = `${OLDEST_PYTHON.join(".")} to ${TOO_NEW_PYTHON[0]}.${TOO_NEW_PYTHON[1] - 1}`;

/** The commands to try, in order. IMPRINT_SETUP_PYTHON names the only one. */
export function pythonCandidates({ env, platform }) {
  if (env.IMPRINT_SETUP_PYTHON) return [[env.IMPRINT_SETUP_PYTHON]];
  const names = NAMES.map((name) => [name]);
  return platform === "win32" ? [["py", "-3"], ...names] : names;
}

/** A CPython that the locked libraries run on and that an environment can be made with, or a SetupFailure that says what to install. */
export async function findPython({ env, signal, platform = process.platform, probe = probePython }) {
  const seen = [];
  for (const command of pythonCandidates({ env, platform })) {
    const python = await probe(command, { env, signal });
    if (python === null) continue;
    const found = { ...python, command, unfit: unfit(python), pipFrom: pipSource(python) };
    if (found.unfit === null && found.pipFrom === "ensurepip") return found;
    seen.push(found);
  }
  const withHostPip = seen.find((python) => python.unfit === null && python.pipFrom === "host");
  if (withHostPip) return withHostPip;
  throw new SetupFailure(pythonProblem({ seen, env, debian: platform === "linux" && existsSync("/etc/debian_version") }));
}

/** The sentence for a machine without a usable Python. */
export function pythonProblem({ seen, env, debian }) {
  const noPip = seen.find((python) => python.unfit === null);
  if (noPip) {
    const version = noPip.version.slice(0, 2).join(".");
    const missing = `Python ${version} (${noPip.executable}) cannot make virtual environments: its venv or ensurepip module is missing.`;
    return debian
      ? `${missing} Install it: sudo apt-get install python${version}-venv`
      : `${missing} Install your system's package for it.`;
  }
  const install = debian
    ? "sudo apt-get install python3 python3-venv"
    : "install it from your system's packages or from python.org";
  const asked = env.IMPRINT_SETUP_PYTHON
    ? ` IMPRINT_SETUP_PYTHON names ${env.IMPRINT_SETUP_PYTHON}.`
    : ` Install one (${install}), or name one in IMPRINT_SETUP_PYTHON.`;
  if (seen.length === 0) return `No Python was found: Imprint needs Python ${RANGE}.${asked}`;
  const reasons = [...new Set(seen.map((python) => `${python.command.join(" ")}: ${python.unfit}`))].join("; ");
  return `No usable Python was found: Imprint needs 64-bit CPython ${RANGE} (${reasons}).${asked}`;
}
