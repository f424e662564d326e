import { isUuid, type Uuid } from '@countersign/ids';
import { parseInstant } from '../status/index.js';
import type { AttemptOutcome } from './outbound.js';

/** Errors of attempts without a status from the carrier. */
export const ATTEMPT_ERRORS = {
  notSent: 'NOT_SENT',
  expired: 'EXPIRED',
  unreadableText: 'UNREADABLE_TEXT',
  illegalOptions: 'ILLEGAL_OPTIONS',
  noAnswer: 'NO_ANSWER',
  sentBefore: 'SENT_BEFORE',
} as const;
const OWN_ERRORS: ReadonlySet<string> = new Set(Object.values(ATTEMPT_ERRORS));

/**
 * `throttled`: a temporary status, so the route may be tried again. `refused`: any other error status. `not_sent`: nothing
 * was written to the carrier. `unanswered`: written, without a response in time. `unknown`: the gateway ended, or lost the
 * database, before it recorded a result.
 */
export const ATTEMPT_OUTCOMES = ['submitted', 'throttled', 'refused', 'not_sent', 'unanswered', 'unknown'] as const;
export type LoggedOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** The result of an attempt as it is logged. */
export function loggedOutcome(outcome: AttemptOutcome): LoggedOutcome {
  if (outcome.kind === 'submitted') return 'submitted';
  if (outcome.kind === 'unknown') return 'unanswered';
  if (OWN_ERRORS.has(outcome.error)) return 'not_sent';
  return outcome.kind === 'busy' ? 'throttled' : 'refused';
}

/** One attempt to submit a code, from the `attempt_log` of its message. */
export interface Attempt {
  /** From 1. */
  readonly attempt: number;
  /** When it was claimed, before it waited for a window slot and the rate of its connection. */
  readonly startedAt: Date;
  /** When its first part was written to the connection; null if it was not, or by a gateway that did not record it. */
  readonly submittedAt: Date | null;
  readonly answeredAt: Date | null;
  /** Null while it is under way. */
  readonly outcome: LoggedOutcome | null;
  /** SMPP name of the carrier's status; null without a response. */
  readonly commandStatus: string | null;
  /** Why there is no response, of `ATTEMPT_ERRORS`; null otherwise. */
  readonly error: string | null;
  readonly smscMessageId: string | null;
  /** The gateway that made it, which held the lease of the connection. */
  readonly gatewayId: Uuid;
  readonly routeId: Uuid | null;
  readonly linkKind: 'bind' | 'sys' | null;
  readonly linkId: Uuid | null;
  /** Name of the bind, or `system_id` of the system; null if it was deleted. */
  readonly linkName: string | null;
  /** Slot of the bind's connection, from 0; null for a system. */
  readonly slot: number | null;
  readonly carrier: string | null;
  readonly source: string | null;
}

/** The attempts of a log, oldest first. Entries that no gateway of this product writes are left out. */
export function attemptsOf(log: unknown): Attempt[] {
  return Array.isArray(log) ? log.flatMap(attemptOf) : [];
}

function attemptOf(entry: unknown): Attempt[] {
  const of = new Map<string, unknown>(typeof entry === 'object' && entry !== null ? Object.entries(entry) : []);
  const attempt = countOf(of.get('n'));
  const startedAt = timeOf(of.get('startedAt'));
  const gatewayId = uuidOf(of.get('gateway'));
  if (attempt === null || attempt === 0 || startedAt === null || gatewayId === null) return [];
  const result = resultOf(of.get('outcome'), textOf(of.get('error')));
  const [bindId, systemId] = [uuidOf(of.get('bind')), uuidOf(of.get('system'))];
  return [
    {
      attempt,
      startedAt,
      ...result,
      submittedAt: result.outcome === 'not_sent' ? null : timeOf(of.get('submittedAt')),
      answeredAt: timeOf(of.get('answeredAt')),
      smscMessageId: textOf(of.get('smscMessageId')),
      gatewayId,
      routeId: uuidOf(of.get('route')),
      linkKind: bindId !== null ? 'bind' : systemId !== null ? 'sys' : null,
      linkId: bindId ?? systemId,
      linkName: textOf(of.get('linkName')),
      slot: countOf(of.get('slot')),
      carrier: textOf(of.get('carrier')),
      source: textOf(of.get('source')),
    },
  ];
}

function resultOf(stored: unknown, reason: string | null): Pick<Attempt, 'outcome' | 'commandStatus' | 'error'> {
  const outcome = ATTEMPT_OUTCOMES.find((known) => known === stored) ?? null;
  if (outcome === 'submitted') return { outcome, commandStatus: 'ESME_ROK', error: null };
  const isOwn = reason !== null && OWN_ERRORS.has(reason);
  return { outcome, commandStatus: isOwn ? null : reason, error: isOwn ? reason : null };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const uuidOf = (value: unknown): Uuid | null => (isUuid(value) ? value : null);
const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

function timeOf(value: unknown): Date | null {
  const at = parseInstant(value);
  return at === null ? null : new Date(at);
}
