import { randomBytes } from 'node:crypto';
import { isTestMode, ServerKeys, tenantOf, type OwnedRow, type Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { Batcher, Database, type Executor } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { INSERT_TICKETS, PURGE_TICKETS, REDEEM_TICKETS } from './ticket.sql.js';

/** Lifetime of a ticket (contract, Realtime). */
const TICKET_SECONDS = 60;
const TICKET_OCTETS = 32;
const TICKET = /^rtk_[A-Za-z0-9_-]{43}$/;
/** Retention of expired tickets, for the investigation of complaints. */
const KEPT_SECONDS = 3_600;
const MAX_BATCH = 64;
const MAX_QUEUED = 4_096;

/** Scope of a ticket: one session, while the issuing key is valid. */
export interface TicketScope {
  readonly sessionId: Uuid;
  readonly tenant: Tenant;
  readonly keyId: Uuid;
}

export interface NewTicket {
  /** Returned once; only its keyed digest is stored. */
  readonly ticket: string;
  readonly expiresAt: Date;
}

type RedeemedRow = OwnedRow & Omit<TicketScope, 'tenant'> & { readonly digest: string };

/** Digests of one ticket under every version of the master key, the current one first; one of them is stored. */
type Digests = readonly [Buffer, ...Buffer[]];

interface IssueCommand extends TicketScope {
  readonly digest: Buffer;
}

/** Issues and redeems tickets: a ticket authorizes a browser to subscribe to one session, once, within a minute. */
@Injectable()
export class TicketStore {
  private readonly issues: Batcher<IssueCommand, Date>;
  private readonly redeems: Batcher<Digests, TicketScope | null>;

  constructor(
    @Inject(Database) private readonly database: Executor,
    private readonly keys: ServerKeys,
  ) {
    const limits = { maxBatch: MAX_BATCH, maxInFlight: 2, maxQueued: MAX_QUEUED };
    const keysOf = ([digest]: Digests): string[] => [digest.toString('hex')];
    this.issues = new Batcher({
      name: 'ticket.issue',
      limits,
      keysOf: ({ digest }) => keysOf([digest]),
      run: (commands) => this.insert(commands),
    });
    this.redeems = new Batcher({ name: 'ticket.redeem', limits, keysOf, run: (tickets) => this.redeemAll(tickets) });
  }

  /** Issues a ticket for an existing session. */
  async issue(scope: TicketScope): Promise<NewTicket> {
    const ticket = `rtk_${randomBytes(TICKET_OCTETS).toString('base64url')}`;
    return {
      ticket,
      expiresAt: await this.issues.add({ ...scope, digest: this.keys.digest('realtime-ticket', ticket) }),
    };
  }

  /**
   * The scope of a ticket, once; null without distinction for a used, expired or unknown ticket and for one whose key
   * was revoked.
   */
  async redeem(ticket: string): Promise<TicketScope | null> {
    return TICKET.test(ticket) ? this.redeems.add(this.keys.digests('realtime-ticket', ticket)) : null;
  }

  /** Deletes old tickets; a result equal to the limit means that more may remain. */
  async purge(limit: number): Promise<number> {
    return (await this.database.query(PURGE_TICKETS, [limit, KEPT_SECONDS])).length;
  }

  @OnStop('tickets')
  async drain(): Promise<void> {
    await Promise.all([this.issues.drain(), this.redeems.drain()]);
  }

  private async insert(commands: readonly IssueCommand[]): Promise<Date[]> {
    const rows = await this.database.query<{ digest: string; expiresAt: Date }>(INSERT_TICKETS, [
      commands.map(({ digest }) => digest),
      commands.map(({ sessionId }) => sessionId),
      commands.map(({ tenant }) => tenant.accountId),
      TICKET_SECONDS,
      commands.map(({ keyId }) => keyId),
      commands.map(({ tenant }) => isTestMode(tenant)),
    ]);
    const ends = new Map(rows.map(({ digest, expiresAt }) => [digest, expiresAt]));
    return commands.map(({ digest }) => {
      const expiresAt = ends.get(digest.toString('hex'));
      if (expiresAt === undefined) throw new Error('ticket could not be issued: no row was returned');
      return expiresAt;
    });
  }

  private async redeemAll(tickets: readonly Digests[]): Promise<(TicketScope | null)[]> {
    const rows = await this.database.query<RedeemedRow>(REDEEM_TICKETS, [tickets.flat()]);
    const scopes = new Map(
      rows.map(({ digest, sessionId, keyId, ...owner }) => [digest, { sessionId, keyId, tenant: tenantOf(owner) }]),
    );
    return tickets.map((digests) => {
      const stored = digests.find((digest) => scopes.has(digest.toString('hex')));
      return (stored && scopes.get(stored.toString('hex'))) ?? null;
    });
  }
}
