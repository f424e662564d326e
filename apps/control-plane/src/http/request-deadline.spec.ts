import { describe, expect, it } from 'vitest';
import { REQUEST_BUDGET_MS, RequestDeadline } from './request-deadline.js';

function watched() {
  let nowMs = 1_000;
  const late: string[] = [];
  const deadline = new RequestDeadline(() => nowMs);
  const after = (ms: number) => {
    nowMs += ms;
    deadline.sweep();
  };
  const watch = (name: string) => {
    const request = { name };
    deadline.watch(request, () => late.push(name));
    return request;
  };
  return { deadline, late, after, watch };
}

describe('the deadline of requests', () => {
  it('answers an overdue request once', () => {
    const { late, after, watch } = watched();
    watch('slow');
    after(REQUEST_BUDGET_MS - 1);
    expect(late).toEqual([]);
    after(1);
    after(1);
    expect(late).toEqual(['slow']);
  });

  it('removes a request that was answered', () => {
    const { deadline, late, after, watch } = watched();
    deadline.done(watch('quick'));
    after(10 * REQUEST_BUDGET_MS);
    expect(late).toEqual([]);
    expect(deadline.size).toBe(0);
  });

  it('counts requests in progress, without those whose body or event is awaited or whose answer is sent', async () => {
    const { deadline, after, watch } = watched();
    let progress = 0;
    deadline.onProgress(() => (progress += 1));
    const [uploads, waits, answers] = [watch('uploads'), watch('waits'), watch('answers')];
    expect(deadline.inProgress).toBe(3);
    deadline.pause(uploads);
    after(99);
    expect(deadline.inProgress).toBe(3);
    after(1);
    expect(deadline.inProgress).toBe(2);
    let end = (): void => undefined;
    const waiting = deadline.pauseWhile(waits, 8_000, () => new Promise<void>((resolve) => (end = resolve)));
    expect([deadline.inProgress, progress]).toEqual([1, 2]);
    deadline.endProgress(answers);
    deadline.endProgress(answers);
    expect([deadline.inProgress, progress, deadline.size]).toEqual([0, 3, 3]);
    end();
    await waiting;
    expect(deadline.inProgress).toBe(1);
    deadline.resume(uploads);
    expect(deadline.inProgress).toBe(2);
    for (const request of [uploads, waits, answers]) deadline.done(request);
    expect([deadline.inProgress, progress, deadline.size]).toEqual([0, 5, 0]);
  });

  it('excludes the transfer of a body', () => {
    const { deadline, late, after, watch } = watched();
    const request = watch('uploads');
    after(1_000);
    deadline.pause(request);
    after(10_000);
    deadline.resume(request);
    deadline.resume(request);
    after(REQUEST_BUDGET_MS - 1_001);
    expect(late).toEqual([]);
    after(1);
    expect(late).toEqual(['uploads']);
  });

  it('excludes the time of pauseWhile, and returns it', async () => {
    const { deadline, late, after, watch } = watched();
    const request = watch('waits for a phone');
    after(2_000);
    await deadline.pauseWhile(request, 8_000, async () => {
      await Promise.resolve();
      after(7_999);
    });
    after(REQUEST_BUDGET_MS - 2_001);
    expect(late).toEqual([]);
    expect(deadline.done(request)).toBe(7_999);
  });

  it('pauses a request at most for the given time', async () => {
    const { deadline, late, after, watch } = watched();
    const request = watch('waits for too long');
    const held = deadline.pauseWhile(request, 8_000, () => Promise.reject(new Error('away')));
    after(8_000);
    expect(late).toEqual(['waits for too long']);
    await expect(held).rejects.toThrow('away');
    expect(deadline.done(request)).toBe(0);
  });
});
