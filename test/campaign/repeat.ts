import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = 100;

/** Repeats a step, with a pause, until it gives a value. Null after this time. */
export async function repeat<Value>(
  withinMs: number,
  step: () => Promise<Value | null> | Value | null,
): Promise<Value | null> {
  const endsAt = performance.now() + withinMs;
  for (;;) {
    const value = await step();
    if (value !== null || performance.now() > endsAt) return value;
    await delay(PAUSE_MS);
  }
}
