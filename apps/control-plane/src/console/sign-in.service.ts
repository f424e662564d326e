import {
  type ConsoleSession,
  ConsoleSessionStore,
  type NewConsoleSession,
  type OpenedConsoleSession,
} from '@countersign/accounts/console-sessions';
import { AuditStore } from '@countersign/events';
import { renderId } from '@countersign/ids';
import { Database, type Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { actorOf } from '../http/console.authenticator.js';
import type { Visitor } from './visitor.decorator.js';

/** The holder of a new session, and how it was proven who that is. */
export type SignIn = Pick<NewConsoleSession, 'memberId' | 'adminKeyId' | 'keyDigests' | 'method'> & {
  /** Whether the phone was verified besides. */
  readonly isSecondStep?: boolean;
};

interface SessionChange {
  readonly action: 'sign-in' | 'sign-out';
  readonly requestId: string;
  readonly by: ConsoleSession;
  readonly isSecondStep?: boolean;
}

/** Opens and ends sessions of the console, each with its entry of the audit log in the same transaction. */
@Injectable()
export class SignInService {
  constructor(
    private readonly database: Database,
    private readonly sessions: ConsoleSessionStore,
    private readonly audit: AuditStore,
  ) {}

  /**
   * A new session, never one that the browser brought: that one ends, whoever opened it (session fixation).
   *
   * @param prove runs first in the transaction; null refuses the sign-in
   */
  open(visitor: Visitor, prove: (tx: Executor) => Promise<SignIn | null>): Promise<OpenedConsoleSession | null> {
    const { clientAddress, userAgent, requestId, cookie } = visitor;
    return this.database.transaction(async (tx) => {
      const signIn = await prove(tx);
      if (signIn === null) return null;
      const former = cookie === null ? null : await this.sessions.find(tx, cookie);
      if (former !== null) {
        await this.sessions.end(tx, former.id);
        await this.append(tx, former, { action: 'sign-out', requestId, by: former });
      }
      const { isSecondStep = false, ...holder } = signIn;
      const opened = await this.sessions.open(tx, { ...holder, clientAddress, userAgent });
      if (opened === null) return null;
      const by = opened.session;
      await this.append(tx, by, { action: 'sign-in', requestId, by, isSecondStep });
      for (const surplus of await this.sessions.endSurplus(tx, by)) {
        await this.append(tx, surplus, { action: 'sign-out', requestId, by });
      }
      return opened;
    });
  }

  /** @param by the session of the call */
  async end(session: ConsoleSession, by: ConsoleSession, requestId: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      await this.sessions.end(tx, session.id);
      await this.append(tx, session, { action: 'sign-out', requestId, by });
    });
  }

  /** Ends the other sessions of the same holder, each with its entry. One that is opened meanwhile goes on. */
  async endOthers(by: ConsoleSession, requestId: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const ended = await this.sessions.endOthers(tx, by);
      for (const session of ended) await this.append(tx, session, { action: 'sign-out', requestId, by });
    });
  }

  private append(
    tx: Executor,
    session: ConsoleSession,
    { action, requestId, by, isSecondStep = false }: SessionChange,
  ): Promise<void> {
    const { id, role, method, clientAddress } = session;
    const state = {
      ...{ holder: actorOf(session), role, method, clientAddress },
      ...(isSecondStep ? { secondStep: 'phone' } : {}),
    };
    const [before, after] = action === 'sign-in' ? [null, state] : [state, null];
    const resourceId = renderId('csn', id);
    return this.audit.append(tx, {
      ...{ actor: actorOf(by), action, resource: 'console-sessions', resourceId, before, after, requestId },
    });
  }
}
