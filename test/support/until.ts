const POLL_MS = 50;

/** Polls a condition every 50 ms until it holds; fails with its name after the deadline. */
export async function until(what: string, deadlineMs: number, holds: () => Promise<boolean> | boolean): Promise<void> {
  const endsAt = performance.now() + deadlineMs;
  while (!(await holds())) {
    if (performance.now() > endsAt) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
