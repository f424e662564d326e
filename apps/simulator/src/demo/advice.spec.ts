import { describe, expect, it } from 'vitest';
import { adviceOn } from './advice.js';

describe('the advice to a person', () => {
  it.each([
    [4, '4 attempts are left'],
    [1, '1 attempt is left'],
    [0, 'No attempts are left'],
    [undefined, 'try again'],
  ])('after a wrong code with %s attempts left', (attemptsRemaining, words) => {
    const advice = adviceOn({ code: 'INVALID_CODE', attemptsRemaining });
    expect(advice.next).toContain(words);
    expect(advice.attemptsLeft).toBe(attemptsRemaining ?? null);
  });

  it.each([
    [1, 'in a second'],
    [27, 'in 27 seconds'],
    [600, 'in 10 minutes'],
    [36_000, 'in 10 hours'],
    [undefined, 'in a moment'],
  ])('when the next code may be asked for after %s seconds', (retryAfterSeconds, words) => {
    const advice = adviceOn({ code: 'RATE_LIMITED', retryAfterSeconds });
    expect(advice.next).toContain(words);
    expect(advice.retryInMs).toBe(retryAfterSeconds === undefined ? null : retryAfterSeconds * 1_000);
  });

  it.each([
    'INVALID_PHONE',
    'DESTINATION_BLOCKED',
    'SESSION_NOT_FOUND',
    'SEND_LIMIT_REACHED',
    'TOO_MANY_ATTEMPTS',
    'NO_ACCOUNT',
    'UNREACHABLE',
    'OTHER_BROWSER',
    'A_CODE_OF_TOMORROW',
  ])('has a next step on %s', (code) => {
    const { title, next } = adviceOn({ code });
    expect(title).not.toBe('');
    expect(next).toMatch(/[.:]$/);
  });
});
