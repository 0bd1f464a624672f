/** Milliseconds as a person reads them: "4.2 s", "3 min 5 s". */
export function elapsed(ms) {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
