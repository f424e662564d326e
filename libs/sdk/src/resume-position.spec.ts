import { describe, expect, it } from 'vitest';
import { ResumePosition } from './resume-position.js';

const event = (id: number, type = 'verification.completed') => ({ id: `evt_${id}`, event: type });

describe('the position to resume after', () => {
  it('is the latest event that was received 5 seconds before the last, else the first', () => {
    const position = new ResumePosition();
    expect(position.resumeAfter).toBeUndefined();
    for (const [id, atMs] of [
      [1, 0],
      [2, 1_000],
      [3, 4_999],
    ] as const)
      position.record(event(id), atMs);
    expect(position.resumeAfter).toBe('evt_1');
    position.record(event(4), 6_000);
    expect(position.resumeAfter).toBe('evt_2');
    position.record(event(5), 60_000);
    expect(position.resumeAfter).toBe('evt_4');
  });

  it('is at most 200 events back', () => {
    const position = new ResumePosition();
    for (let id = 1; id <= 1_000; id += 1) position.record(event(id), 0);
    expect(position.resumeAfter).toBe('evt_801');
  });

  it('is never an event that the service does not store', () => {
    const position = new ResumePosition();
    position.record(event(1, 'verification.updated'), 0);
    expect(position.resumeAfter).toBeUndefined();
  });

  it('is forgotten when the service cannot resume', () => {
    const position = new ResumePosition();
    position.record(event(1), 0);
    position.clear();
    expect(position.resumeAfter).toBeUndefined();
  });
});
