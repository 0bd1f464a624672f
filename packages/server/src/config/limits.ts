const HOUR_MS = 3_600_000;

/** Bounds that are no settings. Tests and measurements give others to `startServer`. */
export const LIMITS = {
  bodyBytes: 1024 * 1024,
  keepFinished: 1000,
  keepFinishedMs: 72 * HOUR_MS,
  keepCheckpoints: 10,
  keepCheckpointsMs: 168 * HOUR_MS,
  checkpointSeconds: 60,
  eventStreams: 200,
  startTimeoutMs: 120_000,
  cancelGraceMs: 10_000,
  rayAttempts: 2,
} as const satisfies Readonly<Record<string, number>>;

export type Limits = { readonly [Name in keyof typeof LIMITS]: number };
