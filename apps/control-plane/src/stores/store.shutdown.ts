import { Limiter, PubSub } from '@countersign/bus';
import { Database, DatabaseClock } from '@countersign/postgres';
import { CardOfferStore } from '@countersign/rcs/offers';
import { SessionStore } from '@countersign/session';
import { Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { CodeChecks } from '../guard/code-checks.store.js';
import { AdminKeyUse, ApiKeyUse } from '../http/key-use.js';

/** Writes what the stores have queued, when the process stops. */
@Injectable()
export class StoreBatchers {
  constructor(
    private readonly apiKeyUse: ApiKeyUse,
    private readonly adminKeyUse: AdminKeyUse,
    private readonly sessions: SessionStore,
    private readonly codeChecks: CodeChecks,
    private readonly cards: CardOfferStore,
  ) {}

  @OnStop('batchers')
  async drain(): Promise<void> {
    await Promise.all([this.apiKeyUse.stop(), this.adminKeyUse.stop(), this.drainSessions(), this.cards.drain()]);
  }

  /** The last checks of codes are counted after their sessions are written. */
  private async drainSessions(): Promise<void> {
    await this.sessions.drain();
    await this.codeChecks.drain();
  }
}

/** Closes the connections to the database and to Redis, when the process stops. */
@Injectable()
export class StoreConnections {
  constructor(
    private readonly database: Database,
    private readonly clock: DatabaseClock,
    private readonly limiter: Limiter,
    private readonly bus: PubSub,
  ) {}

  @OnStop('connections of stores')
  async stop(): Promise<void> {
    await Promise.all([this.clock.stop(), this.limiter.close(), this.bus.close()]);
  }

  @OnStop('database')
  closeDatabase(): Promise<void> {
    return this.database.close();
  }
}
