/** pip's settings from the text of `pip config list`; the environment wins over a command's section, that over global. */
export function parsePipConfig(text) {
  const rank = { global: 0, install: 1, download: 1, ":env:": 2 };
  const found = {};
  for (const line of text.split("\n")) {
    const match = /^(:env:|[a-z]+)\.([a-z-]+)=(['"])(.*)\3$/.exec(line.trim());
    if (!match || !(match[1] in rank)) continue;
    const [, section, name, , value] = match;
    if (found[name] && found[name].rank > rank[section]) continue;
    found[name] = { rank: rank[section], value: value.replaceAll("\\n", "\n").replaceAll("\\\\", "\\") };
  }
  return Object.fromEntries(Object.entries(found).map(([name, { value }]) => [name, value]));
}

/** What uv, which does not read pip's files, must be told to fetch from where pip does. Settings made for uv itself win. */
export function uvSettings({ pip, env }) {
  const words = (value) => value.split(/\s+/).filter(Boolean);
  const told = {};
  const tell = (name, value) => {
    if (env[name] === undefined && value) told[name] = value;
  };
  const hasOwnIndex = ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL"].some(
    (name) => env[name] !== undefined,
  );
  if (!hasOwnIndex && pip["index-url"]) tell("UV_DEFAULT_INDEX", pip["index-url"].trim());
  if (!hasOwnIndex && pip["extra-index-url"]) {
    tell("UV_INDEX", words(pip["extra-index-url"]).join(" "));
    // pip looks at every index; the hashes in the lock make that safe.
    tell("UV_INDEX_STRATEGY", "unsafe-best-match");
  }
  if (pip["find-links"]) tell("UV_FIND_LINKS", words(pip["find-links"]).join(","));
  if (isTrue(pip["no-index"])) tell("UV_NO_INDEX", "1");
  if (pip["trusted-host"]) tell("UV_INSECURE_HOST", words(pip["trusted-host"]).join(" "));
  if (pip.cert) tell("SSL_CERT_FILE", pip.cert);
  if (pip.proxy) tell("ALL_PROXY", pip.proxy);
  return told;
}

const isTrue = (value) => value !== undefined && ["1", "true", "yes", "on"].includes(value.toLowerCase());
