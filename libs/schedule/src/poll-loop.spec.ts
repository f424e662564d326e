import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PollLoop } from './poll-loop.js';

describe('the poll loop', () => {
  let runs: number;
  let answers: (boolean | Error)[];
  let errors: unknown[];
  let hold: Promise<void> | undefined;

  beforeEach(() => {
    vi.useFakeTimers();
    runs = 0;
    answers = [];
    errors = [];
    hold = undefined;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const start = (): PollLoop =>
    new PollLoop({
      everyMs: 1_000,
      work: async () => {
        runs++;
        await hold;
        const answer = answers.shift() ?? false;
        if (answer instanceof Error) throw answer;
        return answer;
      },
      onError: (error) => errors.push(error),
    });

  it('runs a period after the start, and a period after each end', async () => {
    const pollLoop = start();
    await vi.advanceTimersByTimeAsync(999);
    expect(runs).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toBe(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(runs).toBe(2);
    await pollLoop.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs).toBe(2);
  });

  it('runs again at once while more work is pending', async () => {
    answers = [true, true, false];
    const pollLoop = start();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(runs).toBe(3);
    await pollLoop.stop();
  });

  it('continues after an error', async () => {
    answers = [new Error('away')];
    const pollLoop = start();
    await vi.advanceTimersByTimeAsync(2_000);
    expect([runs, errors]).toEqual([2, [new Error('away')]]);
    await pollLoop.stop();
  });

  it('never runs concurrently; a trigger during a run causes one more run after it', async () => {
    let release = (): void => undefined;
    hold = new Promise((resolve) => (release = resolve));
    const pollLoop = start();
    pollLoop.trigger();
    pollLoop.trigger();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(runs).toBe(1);
    release();
    await vi.advanceTimersByTimeAsync(0);
    expect(runs).toBe(2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(runs).toBe(3);
    await pollLoop.stop();
  });

  it.each(Array.from({ length: 12 }, (_, at) => at))(
    'handles a trigger at any moment of the end of a run (%d turns after it)',
    async (turns) => {
      let release = (): void => undefined;
      hold = new Promise((resolve) => (release = resolve));
      const pollLoop = start();
      pollLoop.trigger();
      release();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      const before = runs;
      pollLoop.trigger();
      await vi.advanceTimersByTimeAsync(0);
      expect(runs).toBe(before + 1);
      await pollLoop.stop();
    },
  );

  it('waits for the current run when it is stopped', async () => {
    let release = (): void => undefined;
    hold = new Promise((resolve) => (release = resolve));
    answers = [true];
    const pollLoop = start();
    pollLoop.trigger();
    let stopped = false;
    const stopping = pollLoop.stop().then(() => (stopped = true));
    await vi.advanceTimersByTimeAsync(0);
    expect(stopped).toBe(false);
    release();
    await stopping;
    pollLoop.trigger();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(runs).toBe(1);
  });
});
