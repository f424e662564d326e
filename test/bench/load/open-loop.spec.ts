import { expect, it } from 'vitest';
import { openLoop } from './open-loop.js';

const PACE = { perSecond: 1_000, count: 400, ramp: 100 };

function block(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

it('sends every request once, in order, and counts wrong answers', async () => {
  const sent: number[] = [];
  const measure = await openLoop(PACE, (at, onAnswer) => {
    sent.push(at);
    onAnswer(at % 4 !== 0);
  });
  expect(sent).toEqual(Array.from({ length: 400 }, (_, at) => at));
  expect(measure.errors).toBe(100);
  expect(measure.pace?.perSecond).toBe(1_000);
});

it('sends on while no request is answered', async () => {
  const unanswered: ((well: boolean) => void)[] = [];
  const measure = await openLoop(PACE, (_, onAnswer) => {
    unanswered.push(onAnswer);
    if (unanswered.length === PACE.count) queueMicrotask(() => unanswered.forEach((answer) => answer(true)));
  });
  expect(measure.errors).toBe(0);
  // The first measured request waited for the 299 that were due after it, 1 ms each.
  expect(measure.p99Ms).toBeGreaterThan(290);
});

it('counts a delay of its own process for every request that was due in it', async () => {
  const measure = await openLoop(PACE, (at, onAnswer) => {
    if (at === 150) block(200);
    onAnswer(true);
  });
  // 200 of 300 requests were due within the delay, evenly.
  expect(measure.p50Ms).toBeGreaterThan(20);
  expect(measure.p99Ms).toBeGreaterThan(180);
  expect(measure.pace?.sendDelayP99Ms).toBeGreaterThan(180);
});

it('has a lower rate than its pace when it falls behind', async () => {
  const measure = await openLoop(PACE, (_, onAnswer) => {
    block(2);
    onAnswer(true);
  });
  expect(measure.perSecond).toBeLessThanOrEqual(500);
});
