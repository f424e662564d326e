import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
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

/** An answered request with the key of an account. */
export interface AnsweredCall {
  readonly caller: ApiKeyPrincipal;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** The code of an error; null without one. */
  readonly code: string | null;
}

type Recorded = AnsweredCall & Pick<AnsweredRequest, 'id' | 'method' | 'status' | 'elapsedMs'> & { readonly at: Date };

/**
 * Records the requests that an account reads in its log: errors, and a sample of the rest. A request costs an entry in
 * memory; entries are masked and written in sets. The log is no record of everything: what cannot be written is lost.
 */
@Injectable()
export class RequestRecorder {
  readonly #onError: (error: unknown) => void;
  readonly #flushes: PollLoop;
  #buffer: Recorded[] = [];
  #countByTenant = new Map<string, number>();

  constructor(
    @Inject(Database) private readonly database: Executor,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.#onError = failures.about('recording requests of accounts');
    this.#flushes = new PollLoop({ everyMs: FLUSH_INTERVAL_MS, work: () => this.flush(), onError: this.#onError });
  }

  record({ id, method, status, elapsedMs }: AnsweredRequest, call: AnsweredCall, random = Math.random): void {
    if (status < 400 && random() >= SAMPLED_SHARE) return;
    if (this.#buffer.length >= MAX_BUFFERED) return;
    const tenant = tenantKey(call.caller.tenant);
    const count = this.#countByTenant.get(tenant) ?? 0;
    if (count >= MAX_OF_TENANT) return;
    this.#countByTenant.set(tenant, count + 1);
    this.#buffer.push({ ...call, id, method, status, elapsedMs, at: new Date() });
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
    this.#countByTenant = new Map();
    const rows = recorded.flatMap((request) => {
      const id = parseId('req', request.id);
      return id === null ? [] : [{ ...request, id }];
    });
    if (rows.length === 0) return false;
    await this.database.query(APPEND_REQUESTS, [
      rows.map(({ id }) => id),
      rows.map(({ caller }) => caller.tenant.accountId),
      rows.map(({ caller }) => caller.kind === 'test'),
      rows.map(({ caller }) => caller.keyId),
      rows.map(({ at }) => at),
      rows.map(({ method }) => method),
      rows.map(({ target }) => maskTarget(target)),
      rows.map(({ status }) => status),
      rows.map(({ code }) => code),
      rows.map(({ elapsedMs }) => Math.max(0, Math.round(elapsedMs))),
    ]);
    return false;
  }
}
