import type { Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { DatabaseClock } from '@countersign/postgres';
import { SessionRenderer, SessionStore } from '@countersign/session';
import { Injectable } from '@nestjs/common';
import { AccountChannelService, type AccountRequest } from './account-channel.service.js';
import { channelName } from './channel.js';
import { ChannelSubscription } from './channel-subscription.js';
import type { FrameId } from './client-frame.js';
import type { RealtimeConnection } from './realtime-connection.js';
import { subscribedFrame } from './server-frame.js';
import { SessionSubscriptions } from './session-subscriptions.js';
import { renderingOf, type SessionView } from './session-view.js';

/** A session of a tenant, and the view in which it is shown. */
export interface SessionRequest {
  readonly tenant: Tenant;
  readonly sessionId: Uuid;
  readonly view: SessionView;
}

/**
 * Subscribes connections to channels. A subscription is registered first, then the row is read, then the snapshot and the
 * events received meanwhile are sent, so no event during a subscribe is missed.
 */
@Injectable()
export class SubscriptionService {
  constructor(
    private readonly sessions: SessionStore,
    private readonly renderer: SessionRenderer,
    private readonly clock: DatabaseClock,
    private readonly sessionSubscriptions: SessionSubscriptions,
    private readonly accountChannel: AccountChannelService,
  ) {}

  /**
   * False when the tenant has no such session; rejects when it cannot be read. In both cases there is no subscription,
   * and a replaced one is ended with `unsubscribed`.
   */
  async subscribeSession(connection: RealtimeConnection, id: FrameId, request: SessionRequest): Promise<boolean> {
    const { sessions, sessionSubscriptions, renderer, clock } = this;
    const { tenant, sessionId, view } = request;
    const channel = channelName({ kind: 'session', id: sessionId });
    const subscription = new ChannelSubscription(connection, view);
    sessionSubscriptions.add(sessionId, subscription);
    const replaced = connection.addSubscription(channel, () => sessionSubscriptions.remove(sessionId, subscription));
    try {
      const session = await sessions.find(tenant, sessionId);
      if (session === null) {
        connection.undoSubscribe(channel, replaced);
        return false;
      }
      if (session.status === 'pending') sessionSubscriptions.noteRead(session, clock.nowMs());
      subscription.sendSnapshot(subscribedFrame(id, channel, renderer[renderingOf(view)](session)), session.status);
      return true;
    } catch (error) {
      connection.undoSubscribe(channel, replaced);
      throw error;
    }
  }

  /** Rejects when the events to repeat cannot be read; then there is no subscription. */
  subscribeAccount(connection: RealtimeConnection, id: FrameId, request: AccountRequest): Promise<void> {
    return this.accountChannel.subscribe(connection, id, request);
  }
}
