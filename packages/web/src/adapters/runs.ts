/** Recorded losses over steps. */
export interface Run {
  readonly label: string;
  /** By step from 0, before the first, on; null where none was measured. */
  readonly losses: readonly (number | null)[];
}

/** The runs of a training: its losses of each step, and those on held-out text before the first one and after each epoch. */
export function runsOf(label: string, losses: readonly number[], heldOut: readonly number[]): readonly Run[] {
  const trained = { label, losses: [null, ...losses] };
  if (heldOut.length < 2) return [trained];
  const measured: (number | null)[] = [null, ...losses.map(() => null)];
  for (const [epoch, loss] of heldOut.entries()) measured[Math.round((epoch * losses.length) / (heldOut.length - 1))] = loss;
  return [
    { ...trained, label: "Training" },
    { label: "Held out", losses: measured },
  ];
}
