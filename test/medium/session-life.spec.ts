import { DEFAULT_ATTEMPT_LIMIT, MAX_CODES, type Session, type SessionStatus } from '@countersign/session/rules';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSessionHarness, STRANGER, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness();
});
afterAll(() => harness.close());

/** Model of a session by the specification and the contract, without a database. */
interface SessionModel {
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

function end(model: SessionModel, status: keyof typeof EVENT_OF): boolean {
  if (model.status !== 'pending') return false;
  model.status = status;
  model.events.push(EVENT_OF[status]);
  return true;
}

interface Step {
  /** Applies the step to the model and returns the expected result. */
  readonly predict: (model: SessionModel) => string;
  readonly run: (session: Session) => Promise<string>;
}

/** The refusal of `prepareCode` and `check` for an ended session. */
const refusalOf = ({ status }: SessionModel): string | null => {
  if (status === 'pending') return null;
  return status === 'expired' ? 'expired' : 'not_pending';
};

const send = (code: string): Step => ({
  predict: (model) => {
    const refused = refusalOf(model);
    if (refused !== null) return refused;
    if (model.codes.length === MAX_CODES) return 'full';
    model.codes.push(code);
    return 'sent';
  },
  run: ({ accountId, id }) =>
    harness.database.transaction(async (tx) => {
      const ready = await harness.sessions.prepareCode(tx, liveTenant(accountId), id);
      if (ready.kind !== 'ready') return ready.kind;
      if (ready.sends === MAX_CODES) return 'full';
      await harness.sessions.addCode(tx, ready, code);
      return 'sent';
    }),
});

const check = (code: string): Step => ({
  predict: (model) => {
    const refused = refusalOf(model);
    if (refused !== null) return refused;
    if (model.codes.length === 0) return 'not_sent';
    if (model.attempts === DEFAULT_ATTEMPT_LIMIT) return 'too_many';
    model.attempts += 1;
    if (!model.codes.includes(code)) return `wrong, ${DEFAULT_ATTEMPT_LIMIT - model.attempts} left`;
    end(model, 'approved');
    return 'approved';
  },
  run: async ({ accountId, id }) => {
    const result = await harness.sessions.checkCode(liveTenant(accountId), id, code);
    return result.kind === 'wrong' ? `wrong, ${result.attemptsRemaining} left` : result.kind;
  },
});

const message = (sender: string): Step => ({
  predict: (model) => {
    const { status } = model;
    if (sender !== STRANGER) {
      if (end(model, 'approved')) return 'matched';
      return { expired: 'expired', approved: 'duplicate or ended' }[status as string] ?? 'ended';
    }
    if (status === 'pending' && !model.mismatched) {
      model.mismatched = true;
      model.events.push('verification.sender_mismatch');
    }
    return 'wrong_sender';
  },
  run: async ({ id, accountId, phone }) => {
    const found = await harness.sessions.find(liveTenant(accountId), id);
    const senders = [sender === STRANGER ? STRANGER : phone];
    const { verdicts } = await harness.database.transaction((tx) =>
      harness.sessions.matchInbound(tx, 'live', [{ tokens: [harness.tokenOf(id)], senders, trusted: true }]),
    );
    const fate = verdicts[0]?.fate ?? 'none';
    // A repeated SMS is a duplicate only if an SMS approved the session.
    return found?.status === 'approved' && fate !== 'wrong_sender' ? 'duplicate or ended' : fate;
  },
});

const tap = (status: 'approved' | 'denied'): Step => ({
  predict: (model) => (end(model, status) ? 'ended' : 'nothing'),
  run: ({ id }) =>
    harness.database.transaction(async (tx) => {
      const { ended } = await (status === 'approved'
        ? harness.sessions.applyCardDecision(tx, { mode: 'live', trigger: 'approve', approvedBy: 'rcs', ids: [id] })
        : harness.sessions.applyCardDecision(tx, { mode: 'live', trigger: 'deny', approvedBy: null, ids: [id] }));
      return ended.length === 1 ? 'ended' : 'nothing';
    }),
});

const cancel: Step = {
  predict: (model) => {
    end(model, 'cancelled');
    return 'done';
  },
  run: ({ accountId, id }) => harness.sessions.cancel(liveTenant(accountId), id),
};

const expire: Step = {
  predict: (model) => {
    end(model, 'expired');
    return 'swept';
  },
  run: async ({ id }) => {
    await harness.database.query('UPDATE sessions SET expires_at = created_at WHERE id = $1', [id]);
    while ((await harness.sessions.expireDueSessions(100)).live > 0);
    return 'swept';
  },
};

/** Few codes, so that right ones are tried; endings are rare, so that many steps run before them. */
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

describe('a random sequence of operations on a session', () => {
  it('gives the results and events of the model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
        const session = await harness.sessions.create(harness.draft());
        const model: SessionModel = { status: 'pending', codes: [], attempts: 0, mismatched: false, events: [] };
        const expected: string[] = [];
        const actual: string[] = [];
        for (const { predict, run } of steps) {
          expected.push(predict(model));
          actual.push(await run(session));
        }
        expect(actual).toEqual(expected);
        expect((await harness.sessions.find(liveTenant(session.accountId), session.id))?.status).toBe(model.status);
        const events = await harness.database.query<{ type: string }>(
          'SELECT type FROM events WHERE session_id = $1 ORDER BY occurred_at, id',
          [session.id],
        );
        expect(events.map(({ type }) => type).sort()).toEqual([...model.events].sort());
      }),
      { numRuns: 60 },
    );
  });
});
