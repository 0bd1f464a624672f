// Read by every Node that can parse ES modules: no newer syntax in this file.

const MINIMUM_NODE = [20, 19];

/** The sentence that refuses an old Node, or null. `version` is process.versions.node, such as "20.19.1". */
export function nodeProblem(version) {
  const parts = version.split(".").map(Number);
  const enough = parts[0] > MINIMUM_NODE[0] || (parts[0] === MINIMUM_NODE[0] && parts[1] >= MINIMUM_NODE[1]);
  if (enough) return null;
  return `Node ${version} is too old: Imprint needs Node ${MINIMUM_NODE.join(".")} or newer. Install the current long-term release and run this again.`;
}
