import type { PreviewReport } from "@imprint/contracts";

interface SessionCount {
  readonly id: string;
  readonly learned: number;
  readonly notLearned: number;
}

/** How many turns of each session are learned, in the order of the sessions. */
export function countBySession(turns: PreviewReport["turns"]): readonly SessionCount[] {
  const counts = new Map<string, SessionCount>();
  for (const { session_id: id, supervised } of turns) {
    const { learned, notLearned } = counts.get(id) ?? { learned: 0, notLearned: 0 };
    counts.set(id, { id, learned: learned + (supervised ? 1 : 0), notLearned: notLearned + (supervised ? 0 : 1) });
  }
  return [...counts.values()];
}
