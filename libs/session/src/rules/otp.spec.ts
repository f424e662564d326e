import { ServerKeys } from '@countersign/keys';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SESSION_STATUSES } from './session.js';
import {
  codeDigest,
  codeDigests,
  codeLimit,
  generateCode,
  matchesAnyDigest,
  judgeCheck,
  judgeCodes,
  DEFAULT_ATTEMPT_LIMIT,
  MAX_CODES,
  otpText,
  RESEND_COOLDOWN_SECONDS,
  type CodeState,
} from './otp.js';

const NOW = 1_700_000_000_000;
const LEFT_SECONDS = 57;
const keys = ServerKeys.fromMaster(Buffer.alloc(32, 1));
const SESSION = '018bcfe5-6800-0000-0000-000000000001';
const OTHER = '018bcfe5-6800-0000-0000-000000000002';

const code = fc.integer({ min: 0, max: 999_999 }).map((number) => String(number).padStart(6, '0'));

describe('generateCode', () => {
  it.each([
    [0, '000000'],
    [7, '000007'],
    [42_137, '042137'],
    [999_999, '999999'],
  ])('writes %i as %s', (number, text) => {
    expect(generateCode(() => number)).toBe(text);
  });

  it('requests one of a million values from its generator', () => {
    expect(generateCode((limit) => limit - 1)).toBe('999999');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999 }), (number) => {
        const made = generateCode(() => number);
        expect(made).toMatch(/^[0-9]{6}$/);
        expect(Number(made)).toBe(number);
      }),
    );
  });
});

describe('codeDigest', () => {
  it('is 32 bytes that match one code of one session under one master key', () => {
    fc.assert(
      fc.property(code, code, (one, other) => {
        const digest = codeDigest(keys, SESSION, one);
        expect(digest).toHaveLength(32);
        expect(digest.equals(codeDigest(keys, SESSION, other))).toBe(one === other);
        expect(digest.equals(codeDigest(keys, OTHER, one))).toBe(false);
        expect(digest.equals(codeDigest(ServerKeys.fromMaster(Buffer.alloc(32, 2)), SESSION, one))).toBe(false);
      }),
    );
  });
});

describe('isAmong', () => {
  it('matches no element that is no digest', () => {
    const digest = codeDigest(keys, SESSION, '123456');
    const digests = codeDigests(keys, SESSION, '123456');
    for (const stored of [[null], [[digest]], [Buffer.of(0)], ['x']])
      expect(matchesAnyDigest(digests, stored)).toBe(false);
    expect(matchesAnyDigest(digests, [null, digest])).toBe(true);
  });

  it('matches a code at any position among those sent, and no other', () => {
    fc.assert(
      fc.property(fc.array(code, { maxLength: MAX_CODES }), code, (sent, tried) => {
        const stored = sent.map((each) => codeDigest(keys, SESSION, each));
        expect(matchesAnyDigest(codeDigests(keys, SESSION, tried), stored)).toBe(sent.includes(tried));
      }),
    );
  });
});

describe('otpText', () => {
  it('is one line without a domain', () => {
    expect(otpText('Acme', null, '042137')).toBe('042137 is your Acme code. Do not share it.');
  });

  it('ends with the line that phones read for that site only', () => {
    expect(otpText('Acme', 'acme.example', '042137')).toBe(
      '042137 is your Acme code. Do not share it.\n@acme.example #042137',
    );
  });
});

const LIVE: CodeState = {
  status: 'pending',
  expiresAtMs: NOW + LEFT_SECONDS * 1000,
  allowSmsOtp: true,
  sends: 1,
  attempts: 0,
  attemptLimit: 5,
};

const COLUMNS: readonly (readonly [title: string, changes: Partial<CodeState>])[] = [
  ['pending', {}],
  ['nothing sent', { sends: 0 }],
  ['4 wrong', { attempts: 4 }],
  ['5 wrong', { attempts: 5 }],
  ['1 wrong of 2', { attempts: 1, attemptLimit: 2 }],
  ['2 wrong of 2', { attempts: 2, attemptLimit: 2 }],
  ['without codes', { allowSmsOtp: false, sends: 0 }],
  ['time is up', { expiresAtMs: NOW, allowSmsOtp: false }],
  ['expired', { status: 'expired', expiresAtMs: NOW, attempts: 5 }],
  ['approved', { status: 'approved', allowSmsOtp: false }],
  ['denied', { status: 'denied', sends: 0 }],
  ['cancelled', { status: 'cancelled', expiresAtMs: NOW - 1, attempts: 5 }],
];

function cell(outcome: ReturnType<typeof judgeCheck>): string {
  if (outcome === null) return 'go on';
  switch (outcome.kind) {
    case 'not_pending':
      return `not pending: ${outcome.status}`;
    case 'expired':
      return `expired ${(NOW - outcome.at.getTime()) / 1000} s ago`;
    case 'too_many':
      return `too many for ${outcome.retryAfterSeconds} s`;
    default:
      return outcome.kind.replace('_', ' ');
  }
}

describe('the table of code rules', () => {
  it('reads as printed here, in the contract order of errors', () => {
    const rows = COLUMNS.map(([title, changes]) => {
      const state = { ...LIVE, ...changes };
      return `| ${title} | ${cell(judgeCodes(state, NOW))} | ${cell(judgeCheck(state, NOW))} |`;
    });
    expect(['| | send | check |', ...rows].join('\n')).toBe(
      `
| | send | check |
| pending | go on | go on |
| nothing sent | go on | not sent |
| 4 wrong | go on | go on |
| 5 wrong | go on | too many for 57 s |
| 1 wrong of 2 | go on | go on |
| 2 wrong of 2 | go on | too many for 57 s |
| without codes | otp disabled | otp disabled |
| time is up | expired 0 s ago | expired 0 s ago |
| expired | expired 0 s ago | expired 0 s ago |
| approved | not pending: approved | not pending: approved |
| denied | not pending: denied | not pending: denied |
| cancelled | not pending: cancelled | not pending: cancelled |
`.trim(),
    );
  });

  it('checks a code only on a live session that sent one and has an attempt left', () => {
    const state = fc.record({
      status: fc.constantFrom(...SESSION_STATUSES),
      expiresAtMs: fc.integer({ min: NOW - 300_000, max: NOW + 300_000 }),
      allowSmsOtp: fc.boolean(),
      sends: fc.integer({ min: 0, max: MAX_CODES }),
      attempts: fc.integer({ min: 0, max: DEFAULT_ATTEMPT_LIMIT }),
      attemptLimit: fc.integer({ min: 1, max: DEFAULT_ATTEMPT_LIMIT }),
    });
    fc.assert(
      fc.property(state, (each) => {
        const live = each.status === 'pending' && each.expiresAtMs > NOW && each.allowSmsOtp;
        expect(judgeCodes(each, NOW) === null).toBe(live);
        expect(judgeCheck(each, NOW) === null).toBe(live && each.sends > 0 && each.attempts < each.attemptLimit);
      }),
    );
  });
});

describe('codeLimit', () => {
  const session = { expiresAt: new Date(NOW + LEFT_SECONDS * 1000) };
  const limitOf = (sends: number, agoMs: number | null): ReturnType<typeof codeLimit> =>
    codeLimit({ session, now: new Date(NOW), sends, sentAt: agoMs === null ? null : new Date(NOW - agoMs) });

  it.each([
    ['nothing was sent', 0, null, null],
    ['the last code is 30 s old', 1, 30_000, null],
    ['the last code is a millisecond too young', 2, 29_999, { kind: 'cooldown', retryAfterSeconds: 1 }],
    ['the last code was sent just now', 1, 0, { kind: 'cooldown', retryAfterSeconds: RESEND_COOLDOWN_SECONDS }],
    ['three were sent', 3, 45_000, { kind: 'send_limit', retryAfterSeconds: LEFT_SECONDS }],
    ['three were sent, the last just now', 3, 0, { kind: 'send_limit', retryAfterSeconds: LEFT_SECONDS }],
  ])('when %s', (_, sends, agoMs, limit) => {
    expect(limitOf(sends, agoMs)).toEqual(limit);
  });

  it('gives a wait of whole seconds, at least one, after which a code is allowed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 29_999 }), (agoMs) => {
        const limit = limitOf(1, agoMs);
        expect(limit?.retryAfterSeconds).toBeGreaterThanOrEqual(1);
        expect(limitOf(1, agoMs + (limit?.retryAfterSeconds ?? 0) * 1000)).toBeNull();
      }),
    );
  });
});
