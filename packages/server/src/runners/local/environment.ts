/** Variables of the service's environment that a worker may see. Everything else stays out: tokens, keys, credentials of clouds. */
const ALLOWED = [
  "PATH HOME USER LOGNAME LANG LANGUAGE TZ TMPDIR TMP TEMP VIRTUAL_ENV",
  "SYSTEMROOT SYSTEMDRIVE WINDIR USERPROFILE APPDATA LOCALAPPDATA PATHEXT COMSPEC NUMBER_OF_PROCESSORS", // Windows
  "CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER CUDA_HOME NVIDIA_VISIBLE_DEVICES HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES",
  "LD_LIBRARY_PATH DYLD_LIBRARY_PATH OMP_NUM_THREADS MKL_NUM_THREADS PYTORCH_ALLOC_CONF PYTORCH_CUDA_ALLOC_CONF",
  "HF_HOME HF_HUB_CACHE XDG_CACHE_HOME SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE",
].flatMap((names) => names.split(" "));

const FOR_DOWNLOADS = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "HF_ENDPOINT"];

const ALWAYS = {
  HF_HUB_DISABLE_TELEMETRY: "1",
  PYTHONUTF8: "1",
  PYTHONSAFEPATH: "1", // python -m would import from the folder the service was started in
};

interface EnvironmentOptions {
  readonly source: NodeJS.ProcessEnv;
  /** Whether models may be fetched: the setting, whatever the source says. */
  readonly allowDownloads: boolean;
  /** Its own variables pass, keys included, and the proxies. */
  readonly tracker?: string | null;
  readonly extra?: Readonly<Record<string, string>> | undefined;
}

interface CommandOptions extends Pick<EnvironmentOptions, "source" | "extra"> {
  /** Whether it may reach the hub and the package index, whatever the settings say. */
  readonly online: boolean;
}

/** The environment of a worker. The hub is out of reach unless the user allowed downloads. */
export function workerEnvironment({ source, allowDownloads, tracker = null, extra = {} }: EnvironmentOptions): NodeJS.ProcessEnv {
  const names = new Set(allowDownloads || tracker !== null ? [...ALLOWED, ...FOR_DOWNLOADS] : ALLOWED);
  const families = ["LC_", ...(tracker === null ? [] : [`${tracker.toUpperCase()}_`])];
  const allowed = Object.entries(source).filter(
    ([name]) => names.has(name.toUpperCase()) || families.some((family) => name.startsWith(family)),
  );
  const hub = allowDownloads ? { IMPRINT_ALLOW_DOWNLOADS: "1" } : { HF_HUB_OFFLINE: "1", TRANSFORMERS_OFFLINE: "1" };
  return { ...Object.fromEntries(allowed), ...ALWAYS, ...hub, ...extra };
}

const OF_ACCOUNT = /^(HF_|HUGGING_FACE_HUB_TOKEN$|PIP_)/;

/** The environment of a command that somebody asked for: what a worker sees, and this user's account at the hub and settings of pip for one that goes online. */
export function commandEnvironment({ source, online, extra }: CommandOptions): NodeJS.ProcessEnv {
  const account = Object.entries(source).filter(([name]) => online && OF_ACCOUNT.test(name));
  const own = { HF_HUB_OFFLINE: online ? "0" : "1", ...extra };
  return { ...Object.fromEntries(account), ...workerEnvironment({ source, allowDownloads: online, extra: own }) };
}
