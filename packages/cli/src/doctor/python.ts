import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { trainerEnvironment } from "../service/trainer.js";
import { type Finding, missing, ok, warning } from "./check.js";

/** Importing torch takes about ten seconds on a slow disk. */
const TIMEOUT_MS = 180_000;
const PACKAGES = ["torch", "transformers", "peft", "bitsandbytes", "safetensors"];

const PROBE = `
import importlib, json, platform
seen = {"python": platform.python_version(), "versions": {}, "broken": {}, "device": None, "cuda": None}
for name in ${JSON.stringify([...PACKAGES, "imprint_trainer"])}:
    try:
        seen["versions"][name] = getattr(importlib.import_module(name), "__version__", "")
    except Exception as error:
        seen["broken"][name] = f"{type(error).__name__}: {error}"[:200]
if "torch" in seen["versions"]:
    import torch
    seen["cuda"] = torch.version.cuda
    if torch.cuda.is_available():
        seen["device"] = torch.cuda.get_device_name(0)
print("\\n" + json.dumps(seen))
`;

interface Seen {
  readonly python: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly broken: Readonly<Record<string, string>>;
  readonly device: string | null;
  readonly cuda: string | null;
}

const SETUP = "imprint setup installs the trainer.";

/** Runs the probe. Throws when the program does not start, takes too long, or is no Python. */
async function probe(python: string, repoRoot: string): Promise<Seen> {
  const env = trainerEnvironment({ repoRoot });
  const running = promisify(execFile)(python, ["-c", PROBE], { env, timeout: TIMEOUT_MS });
  running.child.stdin?.end();
  const { stdout } = await running;
  const answer: unknown = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
  if (typeof answer !== "object" || answer === null || !("python" in answer)) throw new Error("this is no Python interpreter");
  return answer as Seen;
}

/** Starts the trainer's Python and imports what a training imports. */
export async function checkPython({
  python,
  repoRoot,
}: {
  python: string | null;
  repoRoot: string;
}): Promise<readonly Finding[]> {
  if (python === null) return [missing("python", "no interpreter is prepared", SETUP)];
  let seen: Seen;
  try {
    seen = await probe(python, repoRoot);
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    return [missing("python", `${python}: ${reason}`, SETUP)];
  }
  const { python: version, versions, broken, device, cuda } = seen;
  const broke = Object.entries(broken).map(([name, reason]) => `${name} (${reason})`);
  const found = PACKAGES.map((name) => `${name} ${versions[name]}`).join(", ");
  return [
    ok("python", `${version} at ${python}`),
    broke.length === 0 ? ok("trainer", found) : missing("trainer", `does not import: ${broke.join("; ")}`, SETUP),
    device !== null
      ? ok("accelerator", device)
      : cuda === null
        ? ok("accelerator", "none: trains on the CPU")
        : warning("accelerator", "none found: trains on the CPU", "With an NVIDIA card, check its driver with nvidia-smi."),
  ];
}
