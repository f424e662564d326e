const REPORT_EVERY_MS = 1_000;

/** The same report, at most once a second: while a store is away everything fails alike. */
export function throttled(report: (error: unknown) => void): (error: unknown) => void {
  let reportedMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    const nowMs = performance.now();
    if (nowMs - reportedMs < REPORT_EVERY_MS) return;
    reportedMs = nowMs;
    report(error);
  };
}
