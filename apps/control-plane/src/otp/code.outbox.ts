import { OutboundLookup, OutboundStore } from '@countersign/carriers/outbound';
import type { ServerKeys, Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { DatabaseClock, Executor } from '@countersign/postgres';
import type { ReadyForCode } from '@countersign/session';
import { otpText } from '@countersign/session/rules';
import { UPDATED, type BroadcastEvent } from '../events/event-broadcast.js';

export interface CodeOutboxOptions {
  readonly clock: DatabaseClock;
  readonly keys: ServerKeys;
  readonly store: Pick<OutboundStore, 'insert'>;
  readonly lookup: OutboundLookup;
  /** Wakes whoever sends messages, after their commit. Must not throw. */
  readonly wake: (ids: readonly Uuid[]) => void;
  /** Wakes whoever plays the carrier for test keys. Must not throw. */
  readonly wakeTest: () => void;
  /** Told that a code was sent, after its commit. Must not throw. */
  readonly tell: (event: BroadcastEvent) => void;
}

/** Where a code goes from here: a sealed message in the same transaction, and the bell after its commit. */
export class CodeOutbox {
  constructor(private readonly options: CodeOutboxOptions) {}

  newId(): Uuid {
    return this.options.clock.newId();
  }

  /** The phone that an earlier run of the same request has queued this message to, or null. */
  queuedTo(tx: Executor, messageId: Uuid, sessionId: Uuid, tenant: Tenant): Promise<string | null> {
    return this.options.lookup.queuedTo(tx, messageId, sessionId, tenant);
  }

  /** Those of the phones that a route leads to. */
  async reachable(tx: Executor, phones: ReadonlySet<string>): Promise<Set<string>> {
    const reached = await Promise.all([...phones].map((phone) => this.options.lookup.hasRoute(tx, phone)));
    return new Set([...phones].filter((_, at) => reached[at] === true));
  }

  /** Queues the SMS with the code. Its text is readable to whoever sends it, and to nobody else. */
  async queue(tx: Executor, { session, now }: ReadyForCode, code: string, messageId: Uuid): Promise<void> {
    const text = otpText(session.brandName, session.otpDomain, code);
    await this.options.store.insert(tx, {
      id: messageId,
      sessionId: session.id,
      accountId: session.accountId,
      test: session.test,
      destination: session.phone,
      country: session.country,
      sender: session.otpSender ?? session.inboundNumber,
      textSealed: this.options.keys.seal('message-text', text, messageId),
      createdAt: now,
      expiresAt: session.expiresAt,
    });
  }

  /** After the commit. */
  notify(messageId: Uuid, { session, now }: ReadyForCode): void {
    const { clock, wake, wakeTest, tell } = this.options;
    if (session.test) wakeTest();
    else wake([messageId]);
    const { id: sessionId, accountId, test } = session;
    tell({ id: clock.newId(), type: UPDATED, sessionId, accountId, test, at: now.toISOString() });
  }
}
