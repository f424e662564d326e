import { ConsoleSessionStore } from '@countersign/accounts/console-sessions';
import type { MemberRole } from '@countersign/accounts/members';
import type { Uuid } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';
import { CLOSE, type CloseCode } from './close-codes.js';
import type { Listener } from './connection-rules.js';
import { RealtimeConnections } from './realtime-connections.js';
import { closeRevoked } from './revoked-connections.js';

/** The end of a session closes its connections within 5 s (contract, Authentication). */
const POLL_INTERVAL_MS = 1_500;

/** Polls the sessions of the console that have open connections, and closes the connections of those that have ended. */
@Injectable()
export class ConsoleSessionPoller {
  readonly #polling: PollLoop;

  constructor(
    private readonly database: Database,
    private readonly sessions: ConsoleSessionStore,
    private readonly connections: RealtimeConnections,
    failures: FailureLog,
  ) {
    this.#polling = new PollLoop({
      everyMs: POLL_INTERVAL_MS,
      work: () => this.closeEndedConnections(),
      onError: failures.about('polling sessions of the console'),
    });
  }

  @OnStop('realtime')
  stop(): Promise<void> {
    return this.#polling.stop();
  }

  private async closeEndedConnections(): Promise<boolean> {
    const { database, sessions, connections } = this;
    await closeRevoked(connections.open, {
      idOf: sessionOf,
      find: (ids) => sessions.liveRoles(database, ids),
      judge: judgeSession,
    });
    return false;
  }
}

const sessionOf = (listener: Listener): Uuid | null =>
  listener.kind === 'admin' || listener.kind === 'key' ? (listener.session?.id ?? null) : null;

/**
 * The close code for a connection given the present role of its session, undefined for one that has ended; null to keep it.
 * A changed role closes it, because rights and views were those of the former one.
 */
export function judgeSession(listener: Listener, role: MemberRole | undefined): CloseCode | null {
  if (listener.kind !== 'admin' && listener.kind !== 'key') return null;
  return listener.session === undefined || listener.session.role === role ? null : CLOSE.unauthorized;
}
