import type { FinalCode, FinalEvent, FinalMessage, FinalRows, FinalSession } from './final-rows.js';
import type { History, ReceivedEvent, SessionHistory } from './history.js';

/** The promises that are checked; each says what breaking it means. */
export const INVARIANTS = {
  oneEnd: 'a session ends once, and what was read of it stays true',
  messageStored: 'every MO that was answered ESME_ROK is stored',
  evidence: 'every approval has its evidence: a matched MO, a code that was received, or a tap; so has every denial',
  approvalKept: 'every accepted evidence approves its session',
  eventDelivered: 'every end has one event, which is dispatched and received',
  eventShown: 'the realtime channel shows every end, also to a reader that lost its connection and resumed',
  inTime: 'no session is approved with evidence that was received after its end',
  guesses: 'no session takes more than five wrong codes',
  entropy: 'a phone has one authEntropy for a brand',
  usage: 'usage counts every session once',
  secrets: 'no secret and no phone is in a log, a queue or a file of Redis',
  answered: 'every session that was answered exists, once',
  codes: 'every accepted code is sent, and no more often than it was claimed',
} as const;

export type Invariant = keyof typeof INVARIANTS;

export interface Violation {
  readonly invariant: Invariant;
  /** The session or phone, and what was expected of it. */
  readonly text: string;
}

const ENDED_BY: Readonly<Record<string, string>> = {
  approved: 'verification.completed',
  denied: 'verification.denied',
  expired: 'verification.expired',
  cancelled: 'verification.cancelled',
};
const ENDINGS: ReadonlySet<string> = new Set(Object.values(ENDED_BY));
const MAX_WRONG_CODES = 5;
/** Of one code: it is sent once more when the response to the first SMS was lost. */
const MAX_SMS = 2;
const OK = 0;
/** A tap is accepted by the clock of the database, and this test reads another. */
const TAP_MARGIN_MS = 2_000;

/** One session with all that concerns it. */
interface Case {
  readonly history: SessionHistory;
  readonly row: FinalSession;
  readonly messages: readonly FinalMessage[];
  readonly ends: readonly FinalEvent[];
  readonly codes: readonly FinalCode[];
  readonly webhooks: readonly ReceivedEvent[];
  readonly frames: readonly ReceivedEvent[];
  readonly hasGap: boolean;
}

type Rule = (of: Case) => string | null;

const RULES: Readonly<Partial<Record<Invariant, Rule>>> = {
  oneEnd: ({ history, row, ends }) => {
    if (ends.length !== 1) return `has ${ends.length} events of an end`;
    if (ends[0]?.type !== ENDED_BY[row.status]) return `is ${row.status}, and its event is ${String(ends[0]?.type)}`;
    const ended = history.statuses.findIndex((status) => status !== 'pending');
    const later = ended === -1 ? [] : history.statuses.slice(ended);
    const other = later.find((status) => status !== row.status);
    return other === undefined ? null : `was read as ${later.join(', ')}, and is ${row.status}`;
  },
  messageStored: ({ history, messages }) => {
    const accepted = history.messages.filter((status) => status === OK).length;
    return messages.length >= accepted ? null : `${accepted} MOs were answered ESME_ROK, ${messages.length} are stored`;
  },
  evidence: ({ history, row, messages }) => {
    if (row.status === 'denied') return history.tap?.choice === 'deny' ? null : 'is denied without such a tap';
    if (row.status !== 'approved') return null;
    if (row.approvedBy === 'rcs')
      return history.tap?.choice === 'approve' ? null : 'is approved by a card without such a tap';
    if (row.approvedBy === 'mo')
      return messages.some(isMatchOf(row)) ? null : 'is approved by SMS without a matched MO';
    const proof = history.checks.some(
      ({ code, answer }) => history.codes.includes(code) && (answer === 'approved' || answer === 'unknown'),
    );
    return row.approvedBy === 'otp' && proof ? null : `is approved by ${String(row.approvedBy)} without evidence`;
  },
  approvalKept: ({ history, row, messages }) => {
    if (messages.some(isMatchOf(row)) && row.approvedBy !== 'mo') return 'has a matched MO, and is not approved by SMS';
    if (isAcceptedInTime(history, row) && row.status !== 'approved' && row.status !== 'denied')
      return `has a tap that was accepted, and is ${row.status}`;
    const isChecked = history.checks.some(({ answer }) => answer === 'approved');
    return isChecked && row.approvedBy !== 'otp' ? 'has a code that was accepted, and is not approved by it' : null;
  },
  eventDelivered: ({ ends, webhooks }) => {
    const [end] = ends;
    if (end === undefined) return null;
    if (!end.isDispatched) return 'has an event that was not dispatched';
    if (end.delivery !== 'succeeded') return `has a delivery that is ${String(end.delivery)}`;
    const received = new Set(webhooks.filter(({ type }) => ENDINGS.has(type)).map(({ eventId }) => eventId));
    return received.size === 1 && received.has(end.id) ? null : `was told with the events ${[...received].join(', ')}`;
  },
  eventShown: ({ row, ends, frames, hasGap }) => {
    const shown = frames.filter(({ type }) => ENDINGS.has(type));
    const other = shown.find(({ status }) => status !== row.status);
    if (other !== undefined) return `was shown as ${other.status}, and is ${row.status}`;
    const isShown = ends.every(({ id }) => shown.some(({ eventId }) => eventId === id));
    return isShown || hasGap ? null : 'has an end that the realtime channel did not show';
  },
  inTime: ({ row, messages }) => {
    if (row.status !== 'approved') return null;
    if (row.endedAt === null || row.endedAt > row.expiresAt) return 'is approved after its end';
    const late = messages.filter(isMatchOf(row)).some(({ receivedAt }) => receivedAt > row.expiresAt);
    return late ? 'is approved by an MO that was received after its end' : null;
  },
  guesses: ({ history, row }) => {
    const wrong = history.checks.filter(({ answer }) => answer === 'wrong').length;
    return Math.max(wrong, row.wrongCodes) > MAX_WRONG_CODES
      ? `took ${wrong} wrong codes, ${row.wrongCodes} counted`
      : null;
  },
  codes: ({ history, codes }) => {
    if (!history.codeAccepted && codes.length === 0) return null;
    if (history.codeAccepted && codes.length === 0) return 'had a code accepted that is not stored';
    const claims = codes.reduce((sum, { attempts }) => sum + attempts, 0);
    if (history.codes.length > claims) return `received ${history.codes.length} SMS of ${claims} claims`;
    if (history.codes.length > MAX_SMS * codes.length)
      return `received ${history.codes.length} SMS of ${codes.length} codes`;
    const lost = codes.filter(({ state }) => state === 'submitted' || state === 'delivered').length;
    return history.codes.length >= lost ? null : `received ${history.codes.length} SMS, ${lost} are recorded as sent`;
  },
};

/** Sessions with a tap are cancelled only once no event of a card is left. */
function isAcceptedInTime({ tap }: SessionHistory, { expiresAt }: FinalSession): boolean {
  if (tap?.acceptedAt == null) return false;
  return tap.acceptedAt.getTime() < expiresAt.getTime() - TAP_MARGIN_MS;
}

const isMatchOf =
  ({ id }: FinalSession) =>
  ({ sessionId, fate }: FinalMessage): boolean =>
    sessionId === id && fate === 'matched';

/** All broken promises; none for a run in which everything held. Knows only what was seen from outside, and the final rows. */
export function findViolations(history: History, rows: FinalRows): Violation[] {
  const byPhone = groupBy(rows.sessions, ({ phone }) => phone);
  const found = history.sessions.flatMap((session) => answeredFaults(session, byPhone.get(session.phone) ?? []));
  const cases = casesOf(history, rows);
  for (const each of cases) {
    for (const [invariant, rule] of Object.entries(RULES) as [Invariant, Rule][]) {
      const text = rule(each);
      if (text !== null) found.push({ invariant, text: `${each.row.id} (${each.row.phone}) ${text}` });
    }
  }
  return [...found, ...entropyFaults(history), ...wholeFaults(history, rows)];
}

/** Phones are used for one session each, so that a second session of one is a create that took effect twice. */
function answeredFaults({ phone, ids }: SessionHistory, rows: readonly FinalSession[]): Violation[] {
  const faults: string[] = [];
  if (ids.size > 1) faults.push(`one idempotency key was answered with ${ids.size} sessions`);
  if (rows.length > 1) faults.push(`one create made ${rows.length} sessions`);
  for (const id of ids) if (!rows.some((row) => row.id === id)) faults.push(`${id} was answered and does not exist`);
  return faults.map((text) => ({ invariant: 'answered', text: `${phone}: ${text}` }));
}

function entropyFaults({ sessions }: History): Violation[] {
  return sessions
    .filter(({ entropies }) => entropies.size > 1)
    .map(({ phone, entropies }) => ({ invariant: 'entropy', text: `${phone} has ${entropies.size} values` }));
}

function wholeFaults({ usageTotal, leaks }: History, { sessions }: FinalRows): Violation[] {
  const faults: Violation[] = leaks.map(({ file, kind }) => ({ invariant: 'secrets', text: `${file} has ${kind}` }));
  if (usageTotal !== sessions.length)
    faults.push({ invariant: 'usage', text: `usage counts ${usageTotal} of ${sessions.length} sessions` });
  return faults;
}

function casesOf({ sessions, webhooks, frames, hasGap }: History, rows: FinalRows): Case[] {
  const byPhone = new Map(sessions.map((session) => [session.phone, session]));
  const messages = groupBy(rows.messages, ({ phone }) => phone);
  const events = groupBy(rows.events, ({ sessionId }) => sessionId);
  const codes = groupBy(rows.codes, ({ sessionId }) => sessionId);
  const received = groupBy(webhooks, ({ sessionId }) => sessionId);
  const shown = groupBy(frames, ({ sessionId }) => sessionId);
  return rows.sessions.flatMap((row) => {
    const history = byPhone.get(row.phone);
    if (history === undefined) return [];
    return [
      {
        history,
        row,
        messages: messages.get(row.phone) ?? [],
        ends: (events.get(row.id) ?? []).filter(({ type }) => ENDINGS.has(type)),
        codes: codes.get(row.id) ?? [],
        webhooks: received.get(row.id) ?? [],
        frames: shown.get(row.id) ?? [],
        hasGap,
      },
    ];
  });
}

function groupBy<Value>(values: readonly Value[], keyOf: (value: Value) => string): ReadonlyMap<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group === undefined) groups.set(keyOf(value), [value]);
    else group.push(value);
  }
  return groups;
}
