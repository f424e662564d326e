import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SESSION_STATUSES } from './session.js';
import { statusAt, transition, type SessionState, type SessionTrigger, type Transition } from './transition.js';

const NOW = 1_700_000_000_000;
const LIVE = NOW + 1;
const OVER = NOW;

const COLUMNS: readonly (readonly [title: string, state: SessionState])[] = [
  ['pending', { status: 'pending', expiresAtMs: LIVE }],
  ['pending, time is up', { status: 'pending', expiresAtMs: OVER }],
  ['approved', { status: 'approved', expiresAtMs: LIVE }],
  ['denied', { status: 'denied', expiresAtMs: LIVE }],
  ['cancelled', { status: 'cancelled', expiresAtMs: LIVE }],
  ['expired', { status: 'expired', expiresAtMs: OVER }],
];
const TRIGGERS: readonly SessionTrigger[] = ['approve', 'deny', 'cancel', 'expire'];

function cell(outcome: Transition): string {
  if (outcome.kind === 'move') return `${outcome.to} + ${outcome.emits}`;
  return outcome.kind === 'none' ? 'no-op' : `refuse: ${outcome.because}`;
}

function printedTable(): string {
  const head = ['', ...COLUMNS.map(([title]) => title)];
  const rows = TRIGGERS.map((trigger) => [
    trigger,
    ...COLUMNS.map(([, state]) => cell(transition(state, trigger, NOW))),
  ]);
  return [head, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

describe('the state table', () => {
  it('reads as printed here', () => {
    expect(printedTable()).toBe(
      `
|  | pending | pending, time is up | approved | denied | cancelled | expired |
| approve | approved + verification.completed | refuse: expired | refuse: approved | refuse: denied | refuse: cancelled | refuse: expired |
| deny | denied + verification.denied | refuse: expired | refuse: approved | refuse: denied | refuse: cancelled | refuse: expired |
| cancel | cancelled + verification.cancelled | no-op | no-op | no-op | no-op | no-op |
| expire | refuse: not_due | expired + verification.expired | no-op | no-op | no-op | no-op |
`.trim(),
    );
  });

  it('never leaves a terminal state, whatever the time', () => {
    const terminal = fc.constantFrom(...SESSION_STATUSES.filter((status) => status !== 'pending'));
    fc.assert(
      fc.property(
        terminal,
        fc.constantFrom(...TRIGGERS),
        fc.integer(),
        fc.integer(),
        (status, trigger, expiresAtMs, now) => {
          expect(transition({ status, expiresAtMs }, trigger, now).kind).not.toBe('move');
        },
      ),
    );
  });

  it('treats the millisecond of expiresAt as too late, and the millisecond before it as valid', () => {
    const state: SessionState = { status: 'pending', expiresAtMs: NOW };
    expect(transition(state, 'approve', NOW - 1)).toEqual({
      kind: 'move',
      to: 'approved',
      emits: 'verification.completed',
    });
    expect(transition(state, 'approve', NOW)).toEqual({ kind: 'refuse', because: 'expired' });
  });

  it('at any time either approve or expire moves a pending session', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (expiresAtMs, now) => {
        const kinds = (['approve', 'expire'] as const).map(
          (t) => transition({ status: 'pending', expiresAtMs }, t, now).kind,
        );
        expect(kinds.filter((kind) => kind === 'move')).toHaveLength(1);
      }),
    );
  });

  it('shows a pending session as expired from expiresAt on, and any other unchanged', () => {
    expect(statusAt({ status: 'pending', expiresAtMs: NOW + 1 }, NOW)).toBe('pending');
    expect(statusAt({ status: 'pending', expiresAtMs: NOW }, NOW)).toBe('expired');
    expect(statusAt({ status: 'approved', expiresAtMs: NOW - 1 }, NOW)).toBe('approved');
  });
});
