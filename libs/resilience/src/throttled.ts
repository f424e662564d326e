const REPORT_INTERVAL_MS = 1_000;

/** Limits a report to one per interval; others are dropped: while a store is unavailable every operation fails alike. */
export function throttled(
  report: (error: unknown) => void,
  intervalMs: number = REPORT_INTERVAL_MS,
): (error: unknown) => void {
  let reportedMs = -Infinity;
  return (error) => {
    const nowMs = performance.now();
    if (nowMs - reportedMs < intervalMs) return;
    reportedMs = nowMs;
    report(error);
  };
}
