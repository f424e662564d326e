import { OutboundLookup, OutboundStore } from '@countersign/carriers/outbound';
import { ServerKeys, type Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { DatabaseClock, type Executor } from '@countersign/postgres';
import type { ReadyForCode } from '@countersign/session';
import { otpText } from '@countersign/session/rules';
import { Injectable } from '@nestjs/common';

/** Queues the SMS of a code: a sealed message in the caller's transaction. */
@Injectable()
export class CodeOutbox {
  constructor(
    private readonly clock: DatabaseClock,
    private readonly keys: ServerKeys,
    private readonly store: OutboundStore,
    private readonly lookup: OutboundLookup,
  ) {}

  newId(): Uuid {
    return this.clock.newId();
  }

  /** The destination of this message if an earlier run of the same request has queued it, or null. */
  queuedTo(tx: Executor, messageId: Uuid, sessionId: Uuid, tenant: Tenant): Promise<string | null> {
    return this.lookup.queuedTo(tx, messageId, sessionId, tenant);
  }

  /** The phones that have a route. */
  async phonesWithRoute(tx: Executor, phones: ReadonlySet<string>): Promise<Set<string>> {
    const reached = await Promise.all([...phones].map((phone) => this.lookup.hasRoute(tx, phone)));
    return new Set([...phones].filter((_, at) => reached[at] === true));
  }

  /** Inserts the SMS with the code. Its text is sealed: only processes with the master key can read it. */
  async queueCode(tx: Executor, { session, now }: ReadyForCode, code: string, messageId: Uuid): Promise<void> {
    const text = otpText(session.brandName, session.otpDomain, code);
    await this.store.insert(tx, {
      id: messageId,
      sessionId: session.id,
      accountId: session.accountId,
      test: session.test,
      destination: session.phone,
      country: session.country,
      sender: session.otpSender ?? session.inboundNumber,
      textSealed: this.keys.seal('message-text', text, messageId),
      createdAt: now,
      expiresAt: session.expiresAt,
    });
  }
}
