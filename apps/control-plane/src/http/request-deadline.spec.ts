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
  it('answers for a request that is overdue, once', () => {
    const { late, after, watch } = watched();
    watch('slow');
    after(REQUEST_BUDGET_MS - 1);
    expect(late).toEqual([]);
    after(1);
    after(1);
    expect(late).toEqual(['slow']);
  });

  it('forgets a request that was answered', () => {
    const { deadline, late, after, watch } = watched();
    deadline.done(watch('quick'));
    after(10 * REQUEST_BUDGET_MS);
    expect(late).toEqual([]);
    expect(deadline.size).toBe(0);
  });

  it('does not count the time a body takes on the line', () => {
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
});
