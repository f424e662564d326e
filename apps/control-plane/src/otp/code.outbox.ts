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
  /** Notifies the gateways of queued messages, after the commit. Must not throw. */
  readonly notifyGateways: (ids: readonly Uuid[]) => void;
  /** Notifies the simulated carrier of test keys, after the commit. Must not throw. */
  readonly notifyTestCarrier: () => void;
  /** Publishes to realtime channels that a code was queued, after the commit. Must not throw. */
  readonly publish: (event: BroadcastEvent) => void;
}

/** Queues the SMS of a code: a sealed message in the caller's transaction, and a notification after its commit. */
export class CodeOutbox {
  constructor(private readonly options: CodeOutboxOptions) {}

  newId(): Uuid {
    return this.options.clock.newId();
  }

  /** The destination of this message if an earlier run of the same request has queued it, or null. */
  queuedTo(tx: Executor, messageId: Uuid, sessionId: Uuid, tenant: Tenant): Promise<string | null> {
    return this.options.lookup.queuedTo(tx, messageId, sessionId, tenant);
  }

  /** The phones that have a route. */
  async phonesWithRoute(tx: Executor, phones: ReadonlySet<string>): Promise<Set<string>> {
    const reached = await Promise.all([...phones].map((phone) => this.options.lookup.hasRoute(tx, phone)));
    return new Set([...phones].filter((_, at) => reached[at] === true));
  }

  /** Inserts the SMS with the code. Its text is sealed: only processes with the master key can read it. */
  async queueCode(tx: Executor, { session, now }: ReadyForCode, code: string, messageId: Uuid): Promise<void> {
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

  /** Call after the commit. */
  notify(messageId: Uuid, { session, now }: ReadyForCode): void {
    const { clock, notifyGateways, notifyTestCarrier, publish } = this.options;
    if (session.test) notifyTestCarrier();
    else notifyGateways([messageId]);
    const { id: sessionId, accountId, test } = session;
    publish({ id: clock.newId(), type: UPDATED, sessionId, accountId, test, at: now.toISOString() });
  }
}
