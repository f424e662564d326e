const POLL_MS = 50;

/** Waits for the thing itself: asks again every 50 ms, and fails with its name when the deadline has passed. */
export async function until(what: string, deadlineMs: number, holds: () => Promise<boolean> | boolean): Promise<void> {
  const endsAt = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > endsAt) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
