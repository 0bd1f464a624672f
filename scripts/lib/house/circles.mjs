/** Strongly connected components of more than one node (Tarjan), each sorted. `graph` maps a node to a Set of nodes. */
export function circlesOf(graph) {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const held = new Set();
  const circles = [];
  const visit = (node) => {
    index.set(node, index.size);
    low.set(node, index.get(node));
    stack.push(node);
    held.add(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) {
        visit(next);
        low.set(node, Math.min(low.get(node), low.get(next)));
      } else if (held.has(next)) {
        low.set(node, Math.min(low.get(node), index.get(next)));
      }
    }
    if (low.get(node) !== index.get(node)) return;
    const circle = stack.splice(stack.indexOf(node));
    for (const one of circle) held.delete(one);
    if (circle.length > 1) circles.push(circle.sort());
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return circles.sort((a, b) => a[0].localeCompare(b[0]));
}

/** The graph of the folders right under `source`; a file beside them is a room of its own. */
export function folderGraph(graph, source) {
  const roomOf = (path) => {
    const rest = path.slice(source.length + 1);
    return rest.includes("/") ? rest.slice(0, rest.indexOf("/")) : rest;
  };
  const rooms = new Map();
  for (const [path, targets] of graph) {
    const room = rooms.get(roomOf(path)) ?? new Set();
    rooms.set(roomOf(path), room);
    for (const target of targets) if (roomOf(target) !== roomOf(path)) room.add(roomOf(target));
  }
  return rooms;
}

/** Everything that is reached from `start`, itself included. */
export function closureOf(graph, start) {
  const reached = new Set([start]);
  for (const node of reached) for (const next of graph.get(node) ?? []) reached.add(next);
  return [...reached];
}
