import { setImmediate as turn } from 'node:timers/promises';
import { USUAL_LIMITS, type ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { parseId } from '@countersign/ids';
import { tenantKey } from '@countersign/keys';
import { Database, type Executor } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { Inject, Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import type { AnsweredRequest } from './answered-request.js';
import { FailureLog } from './failure-log.js';
import { maskTarget } from './masked-target.js';
import { APPEND_REQUESTS } from './request-log.sql.js';

const FLUSH_INTERVAL_MS = 1_000;
/** Share of the requests without an error that are recorded. */
const SAMPLED_SHARE = 0.01;
/** Requests that are recorded between two writes at most, in all and of one account and mode; more are left out. */
const MAX_BUFFERED = 5_000;
const MAX_OF_TENANT = 200;
const MASKED_IN_A_TURN = 4;
const MINUTE_MS = 60_000;
/** Requests of one account and mode that are recorded in a minute at most: as many as the usual quota of a key lets through. */
const MAX_OF_TENANT_PER_MINUTE = USUAL_LIMITS.default;
/** Share of these that one key and those that use its quota, or one member, have at most: the others of the account are seen too. */
const SHARE_OF_ONE = 0.5;
const TOO_MANY = 429;

/** An answered request with the key of an account. */
export interface AnsweredCall {
  readonly caller: ApiKeyPrincipal;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** The code of an error; null without one. */
  readonly code: string | null;
}

type Recorded = AnsweredCall & Pick<AnsweredRequest, 'id' | 'method' | 'status' | 'elapsedMs'> & { readonly at: Date };

/** Where chance and time come from; a test replaces them. */
interface Sources {
  readonly random?: () => number;
  readonly nowMs?: () => number;
}

/**
 * Records the requests that an account reads in its log: errors, and a sample of the rest. Of refusals with 429, one a
 * minute of each key and route: a caller can make any number of them. A request costs an entry in
 * memory; entries are masked and written in sets. The log is no record of everything: what cannot be written is lost.
 */
@Injectable()
export class RequestRecorder {
  readonly #onError: (error: unknown) => void;
  readonly #flushes: PollLoop;
  #buffer: Recorded[] = [];
  /** By tenant, and by tenant and quota. */
  #counts = new Map<string, number>();
  #minute = 0;
  /** In this minute: the same numbers, and the keys and routes of recorded refusals with 429. */
  #countsOfMinute = new Map<string, number>();
  #refused = new Set<string>();

  constructor(
    @Inject(Database) private readonly database: Executor,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.#onError = failures.about('recording requests of accounts');
    this.#flushes = new PollLoop({ everyMs: FLUSH_INTERVAL_MS, work: () => this.flush(), onError: this.#onError });
  }

  record(answer: AnsweredRequest, call: AnsweredCall, { random = Math.random, nowMs = Date.now }: Sources = {}): void {
    const { id, method, status, elapsedMs } = answer;
    if (status < 400 && random() >= SAMPLED_SHARE) return;
    if (this.#buffer.length >= MAX_BUFFERED) return;
    const at = new Date(nowMs());
    if (!this.count(answer, call.caller, at)) return;
    this.#buffer.push({ ...call, id, method, status, elapsedMs, at });
  }

  /** False when as many as may be were recorded. Sets grow with what is recorded alone, and are emptied each minute. */
  private count({ method, route, status }: AnsweredRequest, caller: ApiKeyPrincipal, at: Date): boolean {
    this.beginMinute(Math.floor(at.getTime() / MINUTE_MS));
    const { keyId, quotaId = keyId, tenant } = caller;
    const ofTenant = tenantKey(tenant);
    const ofOne = `${ofTenant} ${quotaId}`;
    const refusal = `${keyId} ${method} ${route}`;
    if (this.isFull(ofTenant, 1) || this.isFull(ofOne, SHARE_OF_ONE)) return false;
    if (status === TOO_MANY && this.#refused.has(refusal)) return false;
    for (const counts of [this.#counts, this.#countsOfMinute])
      for (const name of [ofTenant, ofOne]) counts.set(name, (counts.get(name) ?? 0) + 1);
    if (status === TOO_MANY) this.#refused.add(refusal);
    return true;
  }

  private isFull(name: string, share: number): boolean {
    const [count = 0, inMinute = 0] = [this.#counts.get(name), this.#countsOfMinute.get(name)];
    return count >= MAX_OF_TENANT * share || inMinute >= MAX_OF_TENANT_PER_MINUTE * share;
  }

  private beginMinute(minute: number): void {
    if (minute === this.#minute) return;
    this.#minute = minute;
    this.#countsOfMinute = new Map();
    this.#refused = new Set();
  }

  /** Writes the last requests. */
  @OnStop('batchers')
  async stop(): Promise<void> {
    await this.#flushes.stop();
    await this.flush().catch(this.#onError);
  }

  /** False: the next write follows after the interval. */
  async flush(): Promise<boolean> {
    const recorded = this.#buffer;
    this.#buffer = [];
    this.#counts = new Map();
    const rows = recorded.flatMap((request) => {
      const id = parseId('req', request.id);
      return id === null ? [] : [{ ...request, id }];
    });
    if (rows.length === 0) return false;
    const targets = await maskInTurns(rows);
    await this.database.query(APPEND_REQUESTS, [
      rows.map(({ id }) => id),
      rows.map(({ caller }) => caller.tenant.accountId),
      rows.map(({ caller }) => caller.kind === 'test'),
      rows.map(({ caller }) => caller.keyId),
      rows.map(({ at }) => at),
      rows.map(({ method }) => method),
      targets,
      rows.map(({ status }) => status),
      rows.map(({ code }) => code),
      rows.map(({ elapsedMs }) => Math.max(0, Math.round(elapsedMs))),
    ]);
    return false;
  }
}

/** A long target takes a millisecond to mask: other work goes on in between. */
async function maskInTurns(rows: readonly Pick<Recorded, 'target'>[]): Promise<string[]> {
  const masked: string[] = [];
  for (const { target } of rows) {
    masked.push(maskTarget(target));
    if (masked.length % MASKED_IN_A_TURN === 0) await turn();
  }
  return masked;
}
