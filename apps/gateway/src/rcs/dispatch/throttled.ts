const REPORT_INTERVAL_MS = 1_000;

/** Limits a report to one per second: while a store is unavailable every operation fails alike. */
export function throttled(report: (error: unknown) => void): (error: unknown) => void {
  let reportedMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    const nowMs = performance.now();
    if (nowMs - reportedMs < REPORT_INTERVAL_MS) return;
    reportedMs = nowMs;
    report(error);
  };
}
