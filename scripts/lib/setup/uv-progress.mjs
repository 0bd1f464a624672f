/** Reads uv's plain output line by line and says how far it is. */
export function uvProgress() {
  const underWay = new Map();
  let fetched = 0;
  let step = "resolving";
  return (line) => {
    const text = line.trim();
    const started = /^(?:Downloading|Building) (\S+)(?: \((.+)\))?$/.exec(text);
    const finished = /^(?:Downloaded|Built) (\S+)$/.exec(text);
    const counted = /^(Resolved|Prepared|Installed|Audited) (\d+) packages?/.exec(text);
    if (started) underWay.set(started[1], started[2] ?? "");
    if (finished && underWay.delete(finished[1])) fetched += 1;
    if (counted) step = `${counted[1].toLowerCase()} ${counted[2]} packages`;
    if (underWay.size === 0) return step;
    const [name, size] = [...underWay].at(-1);
    return `${step}, ${fetched} large files fetched, ${underWay.size} under way (${[name, size].filter(Boolean).join(" ")})`;
  };
}
