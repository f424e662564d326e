import { afterEach, describe, expect, it } from 'vitest';
import { AnswerDeadlines } from './answer-deadlines.js';

describe('answer deadlines', () => {
  let now = 0;
  const deadlines = new AnswerDeadlines(5_000, () => now);
  afterEach(() => deadlines.stop());

  it('tells what is over, once, oldest first, and nothing that was answered in time', () => {
    const told: string[] = [];
    const first = (): number => told.push('first');
    const answered = (): number => told.push('answered');
    const later = (): number => told.push('later');
    deadlines.add(first);
    deadlines.add(answered);
    now = 1_000;
    deadlines.add(later);
    deadlines.delete(answered);

    now = 4_999;
    deadlines.look();
    expect(told).toEqual([]);
    now = 5_000;
    deadlines.look();
    deadlines.look();
    expect(told).toEqual(['first']);
    now = 6_000;
    deadlines.look();
    expect(told).toEqual(['first', 'later']);
    expect(deadlines.size).toBe(0);
  });
});
