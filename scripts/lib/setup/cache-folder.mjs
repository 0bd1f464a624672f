import os from "node:os";
import path from "node:path";

/** Where environments and models are kept between clones: IMPRINT_CACHE_DIR, else the platform's own cache folder. */
export function cacheFolder({ env = process.env, platform = process.platform, home = os.homedir() } = {}) {
  const at = platform === "win32" ? path.win32 : path.posix;
  if (env.IMPRINT_CACHE_DIR) return at.resolve(env.IMPRINT_CACHE_DIR);
  if (env.XDG_CACHE_HOME && at.isAbsolute(env.XDG_CACHE_HOME)) return at.join(env.XDG_CACHE_HOME, "imprint");
  if (platform === "win32") return at.join(env.LOCALAPPDATA || at.join(home, "AppData", "Local"), "imprint", "cache");
  if (platform === "darwin") return at.join(home, "Library", "Caches", "imprint");
  return at.join(home, ".cache", "imprint");
}
