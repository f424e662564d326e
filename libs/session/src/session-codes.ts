import { ownsRow, tenantKey, type ServerKeys, type Tenant } from '@countersign/keys';
import { idBounds, type Uuid } from '@countersign/ids';
import { Batcher, type BatcherOptions, type Database, type Executor } from '@countersign/postgres';
import {
  codeDigest,
  codeDigests,
  matchesAnyDigest,
  judgeCheck,
  judgeCodes,
  MAX_CODES,
  type CheckRefused,
  type CodeHistory,
  type CodesRefused,
} from './rules/otp.js';
import { GuardedWriteError, type SessionEndings } from './session-ending.js';
import { codeState, sessionOf } from './session.row.js';
import { ADD_CODE, COUNT_ATTEMPTS, LOCK_FOR_CODES, type AttemptRow, type CodeRow } from './session.sql.js';
import type { CodeCheck, SessionListener } from './session-listener.js';
import type { Session } from './rules/session.js';

/** A locked session whose own state allows sending a code. */
export interface ReadyForCode extends CodeHistory {
  readonly kind: 'ready';
  readonly session: Session;
}

const NOT_FOUND = { kind: 'not_found' } as const;

export type CodeReadiness = ReadyForCode | typeof NOT_FOUND | CodesRefused;

export type CheckResult =
  | { readonly kind: 'approved'; readonly session: Session }
  | { readonly kind: 'wrong'; readonly attemptsRemaining: number }
  | typeof NOT_FOUND
  | CheckRefused;

interface CheckCommand {
  readonly tenant: Tenant;
  readonly id: Uuid;
  readonly code: string;
}

/** Results in command order, events to dispatch, and checks to report to `onChecks`. */
interface CheckedRound {
  readonly results: CheckResult[];
  readonly eventIds: readonly Uuid[];
  readonly checks: readonly CodeCheck[];
}

/** A check whose attempt is to be counted, with its locked row. */
interface CountedAttempt {
  readonly command: CheckCommand;
  readonly row: CodeRow;
}

const ACCEPTED_CODE = { trigger: 'approve', approvedBy: 'otp' } as const;

/** The codes of sessions: stored as digests, each attempt counted before its comparison (contract, OTP). */
export class SessionCodes {
  private readonly checks: Batcher<CheckCommand, CheckResult>;

  constructor(
    private readonly database: Pick<Database, 'transaction'>,
    private readonly keys: ServerKeys,
    private readonly endings: SessionEndings,
    private readonly listener: SessionListener,
    batch: Pick<BatcherOptions<CheckCommand, CheckResult>, 'limits' | 'onBatch'>,
  ) {
    this.checks = new Batcher({
      ...batch,
      name: 'session.check',
      // Checks of one session may share a batch: many guesses take few transactions and do not delay other sessions.
      keysOf: () => [],
      run: (commands) => this.checkAll(commands),
    });
  }

  async prepare(tx: Executor, tenant: Tenant, id: Uuid): Promise<CodeReadiness> {
    const [row] = await tx.query<CodeRow>(LOCK_FOR_CODES, [[id], id, id]);
    if (row === undefined || !ownsRow(tenant, row)) return NOT_FOUND;
    const refused = judgeCodes(codeState(row), row.now.getTime());
    if (refused !== null) return refused;
    return { kind: 'ready', session: sessionOf(row), now: row.now, sends: row.otpSends, sentAt: row.otpSentAt };
  }

  async add(tx: Executor, { session, now, sends }: ReadyForCode, code: string): Promise<void> {
    const digest = codeDigest(this.keys, session.id, code);
    const updated = await tx.query(ADD_CODE, [session.id, digest, sends, now.toISOString(), MAX_CODES]);
    if (updated.length !== 1) throw new GuardedWriteError('code not added: the session changed after it was locked');
  }

  check(tenant: Tenant, id: Uuid, code: string): Promise<CheckResult> {
    return this.checks.add({ tenant, id, code });
  }

  /** As `check`, in its own transaction. */
  async checkAlone(tenant: Tenant, id: Uuid, code: string): Promise<CheckResult> {
    const [result = NOT_FOUND] = await this.checkAll([{ tenant, id, code }]);
    return result;
  }

  drain(): Promise<void> {
    return this.checks.drain();
  }

  private async checkAll(commands: readonly CheckCommand[]): Promise<CheckResult[]> {
    const { results, eventIds, checks } = await this.database.transaction((tx) => this.checkIn(tx, commands));
    if (eventIds.length > 0) this.listener.onEvents(eventIds);
    if (checks.length > 0) this.listener.onChecks?.(checks);
    return results;
  }

  /**
   * Commands of one session run one after the other, one per round. Once a session refuses to compare codes (its lock
   * keeps that true), all its remaining commands get the same result, so there is at most one round more than
   * attempts.
   */
  private async checkIn(tx: Executor, commands: readonly CheckCommand[]): Promise<CheckedRound> {
    const results = new Map<CheckCommand, CheckResult>();
    const events: Uuid[] = [];
    const checks: CodeCheck[] = [];
    for (let left = commands; left.length > 0; left = left.filter((command) => !results.has(command))) {
      const round = firstPerSession(left);
      const checked = await this.checkRound(tx, round);
      events.push(...checked.eventIds);
      checks.push(...checked.checks);
      checked.results.forEach((outcome, at) => {
        for (const command of commandsSharing(outcome, round[at], left)) results.set(command, outcome);
      });
    }
    return { results: commands.map((command) => results.get(command) ?? NOT_FOUND), eventIds: events, checks };
  }

  /** The commands of one round belong to different sessions. */
  private async checkRound(tx: Executor, commands: readonly CheckCommand[]): Promise<CheckedRound> {
    const ids = commands.map(({ id }) => id);
    const { low, high } = idBounds(ids);
    const rows = await tx.query<CodeRow>(LOCK_FOR_CODES, [ids, low, high]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const judged = commands.map((command) => applyRules(command, byId.get(command.id)));
    const trials = judged.flatMap(({ trial }) => (trial === null ? [] : [trial]));
    const attempts = await this.countAttempts(tx, trials);
    const accepted = trials.filter(({ command }) => this.accepts(command, attempts.get(command.id)));
    const { ended, eventIds } = await this.endings.endByRule(
      tx,
      ACCEPTED_CODE,
      accepted.map(({ row }) => row),
    );
    const approved = new Set(ended);
    const results = judged.map(({ trial, refused }) =>
      trial === null ? refused : outcomeOf(trial.row, approved, attempts.get(trial.row.id)),
    );
    const checks = commands.flatMap(({ id }, at) => checkOf(byId.get(id), results[at]));
    return { results, eventIds, checks };
  }

  private async countAttempts(tx: Executor, trials: readonly CountedAttempt[]): Promise<ReadonlyMap<Uuid, AttemptRow>> {
    if (trials.length === 0) return new Map();
    const ids = trials.map(({ row }) => row.id);
    const { low, high } = idBounds(ids);
    const counted = await tx.query<AttemptRow>(COUNT_ATTEMPTS, [ids, low, high]);
    if (counted.length !== trials.length) {
      throw new GuardedWriteError(`${trials.length} attempts to count, but ${counted.length} rows were updated`);
    }
    return new Map(counted.map((row) => [row.id, row]));
  }

  private accepts({ id, code }: CheckCommand, attempt: AttemptRow | undefined): boolean {
    return attempt !== undefined && matchesAnyDigest(codeDigests(this.keys, id, code), attempt.digests);
  }
}

/** The check of a live session, for `onChecks`; empty for every other result. */
function checkOf(row: CodeRow | undefined, result: CheckResult | undefined): CodeCheck[] {
  if (row === undefined || row.test || result === undefined) return [];
  const { kind } = result;
  if (kind !== 'approved' && kind !== 'wrong' && kind !== 'too_many') return [];
  return [{ accountId: row.accountId, phone: row.phone, result: kind }];
}

/** The first command of each session. */
function firstPerSession(commands: readonly CheckCommand[]): CheckCommand[] {
  const seen = new Set<Uuid>();
  return commands.filter(({ id }) => !seen.has(id) && seen.add(id));
}

/** The commands that get this result: the command itself if its code was compared, else all equal ones. */
function commandsSharing(
  { kind }: CheckResult,
  command: CheckCommand | undefined,
  left: readonly CheckCommand[],
): readonly CheckCommand[] {
  if (command === undefined) return [];
  if (kind === 'approved' || kind === 'wrong') return [command];
  const wantedKey = tenantKey(command.tenant);
  return left.filter(({ id, tenant }) => id === command.id && tenantKey(tenant) === wantedKey);
}

type RuledCommand =
  | { readonly trial: CountedAttempt; readonly refused: null }
  | { readonly trial: null; readonly refused: typeof NOT_FOUND | CheckRefused };

function applyRules(command: CheckCommand, row: CodeRow | undefined): RuledCommand {
  if (row === undefined || !ownsRow(command.tenant, row)) return { trial: null, refused: NOT_FOUND };
  const refused = judgeCheck(codeState(row), row.now.getTime());
  return refused === null ? { trial: { command, row }, refused } : { trial: null, refused };
}

function outcomeOf(row: CodeRow, approved: ReadonlySet<Uuid>, attempt: AttemptRow | undefined): CheckResult {
  if (approved.has(row.id)) {
    return { kind: 'approved', session: { ...sessionOf(row), status: 'approved', endedAt: row.now } };
  }
  return { kind: 'wrong', attemptsRemaining: row.otpAttemptLimit - (attempt?.attempts ?? row.otpAttemptLimit) };
}
