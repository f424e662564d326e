import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptsOf, loggedOutcome } from './attempt-log.js';

const ID = '018f0000-0000-7000-8000-000000000001';
const entry = { n: 1, startedAt: '2026-01-31T12:00:00.123+00:00', gateway: ID };

describe('the log of attempts', () => {
  it('is read for any JSON value, and leaves out entries of another form', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const { startedAt, attempt } of attemptsOf(value)) {
          expect(Number.isNaN(startedAt.getTime())).toBe(false);
          expect(attempt).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  it('is read for entries with members of any form', () => {
    const member = fc.constantFrom('outcome', 'error', 'submittedAt', 'bind', 'system', 'slot', 'carrier', 'linkName');
    fc.assert(
      fc.property(fc.dictionary(member, fc.jsonValue()), (members) => {
        const [read] = attemptsOf([{ ...members, ...entry }, null, 'x']);
        expect(read).toMatchObject({ attempt: 1, startedAt: new Date('2026-01-31T12:00:00.123Z'), gatewayId: ID });
        expect(() => read?.submittedAt?.toISOString()).not.toThrow();
      }),
    );
  });

  it.each([
    [{ kind: 'submitted', smscMessageId: null, receiptId: null }, 'submitted'],
    [{ kind: 'busy', error: 'ESME_RTHROTTLED' }, 'throttled'],
    [{ kind: 'busy', error: 'NOT_SENT' }, 'not_sent'],
    [{ kind: 'busy', error: 'EXPIRED' }, 'not_sent'],
    [{ kind: 'refused', error: 'UNREADABLE_TEXT' }, 'not_sent'],
    [{ kind: 'refused', error: 'ESME_RINVDSTADR' }, 'refused'],
    [{ kind: 'unknown', error: 'NO_ANSWER' }, 'unanswered'],
  ] as const)('has for %j the result %s', (outcome, logged) => expect(loggedOutcome(outcome)).toBe(logged));
});
