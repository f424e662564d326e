import { EventStore } from '@countersign/events';
import { parseId } from '@countersign/ids';
import type { Tenant } from '@countersign/keys';
import { Database } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { broadcastsOf, type BroadcastEvent } from '../events/event-broadcast.js';
import { AccountEventPublisher } from './account-event.publisher.js';
import { AccountSubscriptions, type AccountSubscription } from './account-subscriptions.js';
import { channelName } from './channel.js';
import { ChannelSubscription } from './channel-subscription.js';
import type { FrameId } from './client-frame.js';
import type { RealtimeConnection } from './realtime-connection.js';
import { EventLoader } from './rendered-event.js';
import { ResumedSubscription } from './resumed-subscription.js';
import { ResumeTurns } from './resume-turns.js';
import { errorFrame, RESUME_TOO_OLD, subscribedFrame } from './server-frame.js';
import type { SessionView } from './session-view.js';

/** Events older than this, and further back than this many, are not repeated (contract, Realtime). */
const RESUME_WITHIN_MS = 600_000;
const MAX_REPEATED = 1_000;
/** Events that are read and rendered at a time. */
const MAX_SET = 20;
/** Time for a client to read what is repeated, from its turn on; a slower one is closed. */
const MAX_RESUME_MS = 60_000;

/** A subscribe to the channel of the account of a key. */
export interface AccountRequest {
  readonly tenant: Tenant;
  readonly view: SessionView;
  /** `evt_…` of the event after which events are repeated; undefined to start now. */
  readonly resumeAfter: string | undefined;
}

/** Subscribes connections to the channels of accounts. */
@Injectable()
export class AccountChannelService {
  private readonly turns = new ResumeTurns();

  constructor(
    private readonly subscriptions: AccountSubscriptions,
    private readonly accountEvents: AccountEventPublisher,
    private readonly database: Database,
    private readonly events: EventStore,
    private readonly loader: EventLoader,
  ) {}

  /** Rejects when the database cannot be read; then there is no subscription. */
  async subscribe(connection: RealtimeConnection, id: FrameId, request: AccountRequest): Promise<void> {
    const { resumeAfter } = request;
    if (resumeAfter === undefined) await this.start(connection, id, request);
    else {
      const resume = (): Promise<void> => this.resume(connection, id, { ...request, resumeAfter });
      await this.turns.run(request.tenant, () => (connection.open ? resume() : Promise.resolve()));
    }
  }

  private async start(connection: RealtimeConnection, id: FrameId, { tenant, view }: AccountRequest): Promise<void> {
    const subscription = new ChannelSubscription(connection, view);
    await this.register(connection, tenant, subscription, () => {
      subscription.sendSnapshot(subscribedFrame(id, nameOf(tenant), 'null'), null);
    });
  }

  /**
   * The subscription is registered first and the rows are read afterwards: an event that is committed before the read is
   * repeated, and one that is committed later is published to the subscription, so none is missed.
   */
  private async resume(
    connection: RealtimeConnection,
    id: FrameId,
    { tenant, view, resumeAfter }: AccountRequest & { readonly resumeAfter: string },
  ): Promise<void> {
    const timer = setTimeout(() => connection.closeSlow(), MAX_RESUME_MS);
    const subscription = new ResumedSubscription(connection, view);
    try {
      await this.register(connection, tenant, subscription, async () => {
        const missed = await this.missedEvents(tenant, resumeAfter);
        if (missed === null) connection.send(errorFrame(id, TOO_OLD));
        connection.send(subscribedFrame(id, nameOf(tenant), 'null'));
        for (let at = 0; missed !== null && at < missed.length && connection.open; at += MAX_SET) {
          const rendered = await this.loader.read(missed.slice(at, at + MAX_SET));
          await subscription.repeat(rendered.map(({ onAccount }) => onAccount));
        }
        await subscription.follow();
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Registers a subscription at once, and answers when it misses no event any more. */
  private async register(
    connection: RealtimeConnection,
    tenant: Tenant,
    subscription: AccountSubscription,
    answer: () => void | Promise<void>,
  ): Promise<void> {
    const channel = nameOf(tenant);
    const subscribed = this.subscriptions.add(tenant, subscription);
    const replaced = connection.addSubscription(channel, () => this.subscriptions.remove(tenant, subscription));
    try {
      await this.accountEvents.begin(subscribed);
      await answer();
    } catch (error) {
      connection.undoSubscribe(channel, replaced);
      throw error;
    }
  }

  /** In order of dispatch; null when the event is unknown to the tenant, too old or too far back. */
  private async missedEvents(tenant: Tenant, resumeAfter: string): Promise<BroadcastEvent[] | null> {
    const after = parseId('evt', resumeAfter);
    if (after === null) return null;
    const position = { accountId: tenant.accountId, test: tenant.mode === 'test', after, withinMs: RESUME_WITHIN_MS };
    const found = await this.events.findDispatchedAfter(this.database, position, MAX_REPEATED + 1);
    if (found === null || found.length > MAX_REPEATED) return null;
    return broadcastsOf(found);
  }
}

const TOO_OLD = {
  code: RESUME_TOO_OLD,
  message: 'The events after this one cannot be repeated: this subscription starts now.',
} as const;

const nameOf = (tenant: Tenant): string => channelName({ kind: 'account', id: tenant.accountId });
