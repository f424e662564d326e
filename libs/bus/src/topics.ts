import type { Uuid } from '@countersign/ids';

declare const PAYLOAD: unique symbol;

/** The name of a topic. `Payload` is the type of what is published to it; `undefined` for a mere signal. */
export type Topic<Payload> = string & { readonly [PAYLOAD]?: Payload };

/** An event for realtime channels. */
interface BroadcastEvent {
  readonly id: Uuid;
  readonly type: string;
  readonly sessionId: Uuid | null;
  readonly accountId: Uuid;
  readonly test: boolean | null;
  /** Time of the event, as `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  readonly at: string;
}

/** The card was sent, or its channel is decided. */
interface CardOutcome {
  readonly id: Uuid;
  readonly news: 'sent' | 'rcs' | 'sms_fallback';
}

/** Rows of binds, or owners of their connections, have changed. */
const binds: Topic<undefined> = 'binds';
/** Rows of systems have changed. */
const systems: Topic<undefined> = 'systems';
/** A connection of the bind changed its state. */
const bindStatus: Topic<{ readonly bindId: Uuid }> = 'bind-status';
/** The gateway of this id left codes to gateways with a better bind. */
const deferredCodes: Topic<Uuid> = 'outbound-left';
/**
 * Ids of new card offers. Fast path: broadcast to all gateways. The queue job, consumed by one gateway, is the fallback.
 */
const cardOffers: Topic<readonly Uuid[]> = 'cards:offered';
/** Outcomes of cards, for the control plane process whose creates wait for them. */
const cardOutcomes = (processId: Uuid): Topic<readonly CardOutcome[]> => `cards:${processId}`;
/** A test message was added, or has a result. */
const testMessages: Topic<undefined> = 'test-messages';
/** Committed events. */
const events: Topic<readonly BroadcastEvent[]> = 'events';
/** The webhook secrets of this account were rotated. */
const webhookSecrets: Topic<Uuid> = 'webhook-secrets';
/** Requests to the recorder of a gateway, sealed; so are its answers. */
const trace = (gatewayId: Uuid): Topic<Buffer> => `trace:${gatewayId}`;

/**
 * The topics of the product. The types are for publishers; a receiver trusts no payload and parses what `json()` returns,
 * since anyone with access to the store of the bus can publish.
 */
export const TOPICS = {
  binds,
  systems,
  bindStatus,
  deferredCodes,
  cardOffers,
  cardOutcomes,
  testMessages,
  events,
  webhookSecrets,
  trace,
};
