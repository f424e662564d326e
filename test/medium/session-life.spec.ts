import { MAX_ATTEMPTS, MAX_CODES, type Session, type SessionStatus } from '@countersign/session/rules';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSessionHarness, STRANGER, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness();
});
afterAll(() => harness.close());

/** What a session is by the specification and the contract, told without a database. */
interface Life {
  status: SessionStatus;
  readonly codes: string[];
  attempts: number;
  mismatched: boolean;
  readonly events: string[];
}

const EVENT_OF = {
  approved: 'verification.completed',
  denied: 'verification.denied',
  cancelled: 'verification.cancelled',
  expired: 'verification.expired',
} as const;

function end(life: Life, status: keyof typeof EVENT_OF): boolean {
  if (life.status !== 'pending') return false;
  life.status = status;
  life.events.push(EVENT_OF[status]);
  return true;
}

interface Step {
  /** What should come of it, by the book; changes the life accordingly. */
  readonly foretell: (life: Life) => string;
  readonly take: (session: Session) => Promise<string>;
}

/** Why codes are refused, as both `prepareCode` and `check` say it. */
const over = ({ status }: Life): string | null => {
  if (status === 'pending') return null;
  return status === 'expired' ? 'expired' : 'not_pending';
};

const send = (code: string): Step => ({
  foretell: (life) => {
    const refused = over(life);
    if (refused !== null) return refused;
    if (life.codes.length === MAX_CODES) return 'full';
    life.codes.push(code);
    return 'sent';
  },
  take: ({ accountId, id }) =>
    harness.database.transaction(async (tx) => {
      const ready = await harness.sessions.prepareCode(tx, liveTenant(accountId), id);
      if (ready.kind !== 'ready') return ready.kind;
      if (ready.sends === MAX_CODES) return 'full';
      await harness.sessions.addCode(tx, ready, code);
      return 'sent';
    }),
});

const check = (code: string): Step => ({
  foretell: (life) => {
    const refused = over(life);
    if (refused !== null) return refused;
    if (life.codes.length === 0) return 'not_sent';
    if (life.attempts === MAX_ATTEMPTS) return 'too_many';
    life.attempts += 1;
    if (!life.codes.includes(code)) return `wrong, ${MAX_ATTEMPTS - life.attempts} left`;
    end(life, 'approved');
    return 'approved';
  },
  take: async ({ accountId, id }) => {
    const result = await harness.sessions.checkCode(liveTenant(accountId), id, code);
    return result.kind === 'wrong' ? `wrong, ${result.attemptsRemaining} left` : result.kind;
  },
});

const message = (sender: string): Step => ({
  foretell: (life) => {
    const { status } = life;
    if (sender !== STRANGER) {
      if (end(life, 'approved')) return 'matched';
      return { expired: 'expired', approved: 'duplicate or ended' }[status as string] ?? 'ended';
    }
    if (status === 'pending' && !life.mismatched) {
      life.mismatched = true;
      life.events.push('verification.sender_mismatch');
    }
    return 'wrong_sender';
  },
  take: async ({ id, accountId, phone }) => {
    const found = await harness.sessions.find(liveTenant(accountId), id);
    const senders = [sender === STRANGER ? STRANGER : phone];
    const { verdicts } = await harness.database.transaction((tx) =>
      harness.sessions.matchInbound(tx, 'live', [{ ref: 0, tokens: [harness.tokenOf(id)], senders, trusted: true }]),
    );
    const fate = verdicts[0]?.fate ?? 'none';
    // An SMS that comes again is a duplicate only where an SMS had approved.
    return found?.status === 'approved' && fate !== 'wrong_sender' ? 'duplicate or ended' : fate;
  },
});

const tap = (status: 'approved' | 'denied'): Step => ({
  foretell: (life) => (end(life, status) ? 'ended' : 'nothing'),
  take: ({ id }) =>
    harness.database.transaction(async (tx) => {
      const { ended } = await (status === 'approved'
        ? harness.sessions.applyCardDecision(tx, { mode: 'live', trigger: 'approve', approvedBy: 'rcs', ids: [id] })
        : harness.sessions.applyCardDecision(tx, { mode: 'live', trigger: 'deny', approvedBy: null, ids: [id] }));
      return ended.length === 1 ? 'ended' : 'nothing';
    }),
});

const cancel: Step = {
  foretell: (life) => {
    end(life, 'cancelled');
    return 'done';
  },
  take: ({ accountId, id }) => harness.sessions.cancel(liveTenant(accountId), id),
};

const expire: Step = {
  foretell: (life) => {
    end(life, 'expired');
    return 'swept';
  },
  take: async ({ id }) => {
    await harness.database.query('UPDATE sessions SET expires_at = created_at WHERE id = $1', [id]);
    while ((await harness.sessions.expireDueSessions(100)).live > 0);
    return 'swept';
  },
};

/** Few codes, so that right ones are tried; ends are rare, so that much happens before them. */
const code = fc.constantFrom('000000', '000001', '042137', '999999');
const step = fc.oneof(
  { weight: 6, arbitrary: code.map(send) },
  { weight: 9, arbitrary: code.map(check) },
  { weight: 3, arbitrary: fc.constant(message(STRANGER)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(message('its phone'), tap('approved'), tap('denied'), cancel, expire),
  },
);

describe('whatever happens to a session', () => {
  it('is answered by the book, step for step, and leaves the events of the book', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
        const session = await harness.sessions.create(harness.draft());
        const life: Life = { status: 'pending', codes: [], attempts: 0, mismatched: false, events: [] };
        const foretold: string[] = [];
        const came: string[] = [];
        for (const { foretell, take } of steps) {
          foretold.push(foretell(life));
          came.push(await take(session));
        }
        expect(came).toEqual(foretold);
        expect((await harness.sessions.find(liveTenant(session.accountId), session.id))?.status).toBe(life.status);
        const events = await harness.database.query<{ type: string }>(
          'SELECT type FROM events WHERE session_id = $1 ORDER BY occurred_at, id',
          [session.id],
        );
        expect(events.map(({ type }) => type).sort()).toEqual([...life.events].sort());
      }),
      { numRuns: 60 },
    );
  });
});
