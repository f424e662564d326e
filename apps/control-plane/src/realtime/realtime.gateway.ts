import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { BatcherFull, DatabaseUnavailable } from '@countersign/postgres';
import { Limits } from '../http/limits.js';
import { FailureLog } from '../operations/failure-log.js';
import { BindStatusFeed } from './bind-status.feed.js';
import { channelName, type Channel } from './channel.js';
import type { ClientFrame } from './client-frame.js';
import { CLOSE } from './close-codes.js';
import { judgeSubscribe, type Listener } from './connection-rules.js';
import { HEARTBEAT_MS } from './heartbeats.js';
import type { RealtimeConnection } from './realtime-connection.js';
import { authenticatedFrame, pongFrame, unsubscribedFrame, welcomeFrame, type FrameError } from './server-frame.js';
import { SubscriptionService } from './subscription.service.js';
import { TicketStore } from './ticket.store.js';

type FrameOf<Type extends ClientFrame['type']> = Extract<ClientFrame, { type: Type }>;
type Subscribe = FrameOf<'subscribe'>;

const BAD_TICKET: FrameError = { code: 'UNAUTHORIZED', message: 'This ticket is not valid: used, over or unknown.' };
const TOO_MANY_CONNECTIONS: FrameError = {
  code: 'RATE_LIMITED',
  message: 'This account has too many connections open.',
};
const NO_SESSION: FrameError = { code: 'SESSION_NOT_FOUND', message: 'There is no session with this id.' };
const UNAVAILABLE: FrameError = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'This cannot be answered at the moment: try again.',
};
const INTERNAL: FrameError = { code: 'INTERNAL_ERROR', message: 'Something went wrong on our side.' };

/** Handles messages of clients (contract, Realtime). Each is answered before the next is handled. */
@WebSocketGateway({ path: '/v1/realtime' })
export class RealtimeGateway {
  private readonly onError: (error: unknown) => void;

  constructor(
    private readonly subscriptions: SubscriptionService,
    private readonly binds: BindStatusFeed,
    private readonly tickets: TicketStore,
    private readonly limits: Limits,
    failures: FailureLog,
  ) {
    this.onError = failures.about('handling a realtime message');
  }

  handleConnection(connection: RealtimeConnection): void {
    connection.send(welcomeFrame(connection.listener.kind !== 'nobody', HEARTBEAT_MS));
  }

  @SubscribeMessage('auth')
  auth(connection: RealtimeConnection, frame: FrameOf<'auth'>): Promise<void> {
    return this.answering(connection, frame, async () => {
      const scope = await this.tickets.redeem(frame.ticket);
      if (scope === null) {
        void this.limits.countWrongKey(connection.clientAddress);
        connection.refuse(frame.id, { error: BAD_TICKET, close: CLOSE.unauthorized });
        return;
      }
      if (connection.admit({ kind: 'ticket', ...scope })) connection.send(authenticatedFrame(frame.id));
      else connection.refuse(frame.id, { error: TOO_MANY_CONNECTIONS, close: CLOSE.tooMany });
    });
  }

  @SubscribeMessage('subscribe')
  subscribe(connection: RealtimeConnection, frame: Subscribe): Promise<void> {
    return this.answering(connection, frame, async () => {
      const { listener } = connection;
      const exhausted = await this.countSubscribe(listener, frame.channel);
      if (exhausted !== null) {
        connection.refuse(frame.id, { error: exhausted, close: null });
        return;
      }
      if (!connection.open) return;
      // No await between the limit check and the registration, so that concurrent connections of one account cannot
      // exceed its limit.
      const name = channelName(frame.channel);
      const [others, accountHasCapacity] = [connection.channelsBut(name), connection.accountHasCapacityFor(name)];
      const refused = judgeSubscribe(listener, frame.channel, { others, accountHasCapacity });
      if (refused?.kind === 'refuse') connection.refuse(frame.id, refused);
      else await this.join(connection, frame);
    });
  }

  @SubscribeMessage('unsubscribe')
  unsubscribe(connection: RealtimeConnection, { id, channel }: FrameOf<'unsubscribe'>): void {
    const name = channelName(channel);
    connection.removeSubscription(name);
    connection.send(unsubscribedFrame(id, name));
  }

  @SubscribeMessage('ping')
  ping(connection: RealtimeConnection, { id }: FrameOf<'ping'>): void {
    connection.send(pongFrame(id));
  }

  /** Counts a subscribe like a GET of its snapshot. Null when it is within the limits. */
  private async countSubscribe(listener: Listener, channel: Channel): Promise<FrameError | null> {
    if (listener.kind === 'nobody') return null;
    const { refusal } = await this.limits.countSubscribe(listener, channel.kind === 'session' ? channel.id : null);
    if (refusal === null) return null;
    const { code, retryAfterSeconds = 1 } = refusal;
    return { code, message: `Too many subscribe messages: try again in ${retryAfterSeconds} s.` };
  }

  private async join(connection: RealtimeConnection, { id, channel, resumeAfter }: Subscribe): Promise<void> {
    const { listener } = connection;
    if (channel.kind === 'binds') {
      if (listener.kind === 'admin') await this.binds.subscribe(connection, id, listener.role);
    } else if (listener.kind === 'key' && channel.kind === 'account') {
      const { tenant, view } = listener;
      await this.subscriptions.subscribeAccount(connection, id, { tenant, view, resumeAfter });
    } else if (channel.kind === 'session' && (listener.kind === 'ticket' || listener.kind === 'key')) {
      const view = listener.kind === 'ticket' ? 'reduced' : listener.view;
      const request = { tenant: listener.tenant, sessionId: channel.id, view } as const;
      const found = await this.subscriptions.subscribeSession(connection, id, request);
      if (!found) connection.refuse(id, { error: NO_SESSION, close: null });
    }
  }

  /** Answers a failure with an error frame; unexpected failures are logged. */
  private async answering(
    connection: RealtimeConnection,
    { id }: ClientFrame,
    work: () => Promise<void>,
  ): Promise<void> {
    try {
      await work();
    } catch (error) {
      const unavailable = error instanceof DatabaseUnavailable || error instanceof BatcherFull;
      if (!unavailable) this.onError(error);
      connection.refuse(id, { error: unavailable ? UNAVAILABLE : INTERNAL, close: null });
    }
  }
}
