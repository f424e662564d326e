import { EventStore, showsSession, type StoredEvent } from '@countersign/events';
import { tenantOf, type Tenant } from '@countersign/keys';
import { ID_CLOCK_SLACK_MS, renderId, type Uuid } from '@countersign/ids';
import { Database, DatabaseClock, type Executor } from '@countersign/postgres';
import { SessionRenderer, SessionStore } from '@countersign/session';
import { STATUS_BY_TERMINAL_EVENT, type Session, type SessionStatus } from '@countersign/session/rules';
import { Inject, Injectable } from '@nestjs/common';
import { maskPeopleIn } from '../admin/crud/people.js';
import { UPDATED, type BroadcastEvent } from '../events/event-broadcast.js';
import { FailureLog } from '../operations/failure-log.js';
import { type Channel, channelName } from './channel.js';
import { eventFrame } from './server-frame.js';
import { renderingOf, type SessionView } from './session-view.js';
import type { Rendering } from './channel-subscription.js';

export const ENDING_TYPES: readonly string[] = [...STATUS_BY_TERMINAL_EVENT.keys()];

/** The key of a rendered frame: one for each kind of channel and view. */
type Audience = `${'session' | 'account'} ${SessionView}`;

/** An event with its data, rendered once for each kind of channel and view. */
export class RenderedEvent implements Rendering {
  readonly ends: SessionStatus | null;
  /** The same event on the account's channel. */
  readonly onAccount: Rendering;
  readonly #frames = new Map<Audience, Buffer | null>();

  constructor(
    readonly broadcast: BroadcastEvent,
    /** The tenant whose account channel carries the event. */
    readonly tenant: Tenant,
    /** JSON text of a view; null when the view does not include the event. */
    private readonly dataIn: (view: SessionView) => string | null,
  ) {
    this.ends = STATUS_BY_TERMINAL_EVENT.get(broadcast.type) ?? null;
    const account = { kind: 'account', id: broadcast.accountId } as const;
    this.onAccount = { ends: null, inView: (view) => this.cachedFrame('account', view, account) };
  }

  inView(view: SessionView): Buffer | null {
    const { sessionId } = this.broadcast;
    return sessionId === null ? null : this.cachedFrame('session', view, { kind: 'session', id: sessionId });
  }

  /** Rendering costs more than sending, so frames are cached for all subscribers, null results included. */
  private cachedFrame(kind: 'session' | 'account', view: SessionView, channel: Channel): Buffer | null {
    const audience: Audience = `${kind} ${view}`;
    const known = this.#frames.get(audience);
    if (known !== undefined) return known;
    const data = this.dataIn(view);
    const octets = data === null ? null : this.frame(channelName(channel), data);
    this.#frames.set(audience, octets);
    return octets;
  }

  private frame(channel: string, data: string): Buffer {
    const { id, type, at } = this.broadcast;
    return eventFrame(channel, { id: renderId('evt', id), event: type, timestamp: at, data });
  }
}

/** Renders confirmed events from their rows. */
@Injectable()
export class EventRenderer {
  private readonly onError: (error: unknown) => void;

  constructor(
    @Inject(SessionRenderer) private readonly renderer: Pick<SessionRenderer, 'full' | 'reduced' | 'listed' | 'masked'>,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.onError = failures.about('publishing realtime events');
  }

  /** Null for an event without data to show. */
  render(event: ConfirmedEvent, row?: StoredEvent, session?: Session): RenderedEvent | null {
    const tenant = tenantOf(event);
    if (showsSession(event.type)) {
      return session === undefined
        ? null
        : new RenderedEvent(event, tenant, (view) => this.renderSession(session, view));
    }
    const data = row?.data ?? null;
    // Subscribers with a ticket do not receive these.
    return data === null ? null : new RenderedEvent(event, tenant, (view) => this.renderData(data, view));
  }

  /** Null for data that cannot be masked, so that one event does not block the others. */
  private renderData(data: string, view: SessionView): string | null {
    if (view !== 'masked') return view === 'reduced' ? null : data;
    try {
      return JSON.stringify(maskPeopleIn(JSON.parse(data)));
    } catch (error) {
      this.onError(error);
      return null;
    }
  }

  /** Null when rendering fails, for want of a key for instance, so that one event does not block the others. */
  private renderSession(session: Session, view: SessionView): string | null {
    try {
      return this.renderer[renderingOf(view)](session);
    } catch (error) {
      this.onError(error);
      return null;
    }
  }
}

/**
 * Reads the rows of broadcast events, in sets. A message only names the rows to read: type, session, account, mode,
 * time and data come from the rows, and an event that the rows do not confirm is left out.
 */
@Injectable()
export class EventLoader {
  constructor(
    @Inject(Database) private readonly database: Executor,
    @Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    @Inject(SessionStore) private readonly sessions: Pick<SessionStore, 'findMany'>,
    @Inject(EventStore) private readonly events: Pick<EventStore, 'findMany'>,
    private readonly renderer: EventRenderer,
  ) {}

  async read(broadcasts: readonly BroadcastEvent[]): Promise<RenderedEvent[]> {
    const { database, clock, sessions, events } = this;
    const ofSessions = broadcasts.flatMap(({ sessionId }) => (sessionId === null ? [] : [sessionId]));
    const [found, stored] = await Promise.all([
      sessions.findMany(database, [...new Set(ofSessions)]),
      events.findMany(
        database,
        broadcasts.map(({ id }) => id),
      ),
    ]);
    const byId = new Map<Uuid | null, Session>(found.map((session) => [session.id, session]));
    const nowMs = clock.nowMs();
    return broadcasts.flatMap((event) => {
      const [row, session] = [stored.get(event.id), byId.get(event.sessionId)];
      const confirmed =
        event.type === UPDATED ? updateOf(event, row, session, nowMs) : storedEventOf(event, row, session);
      return confirmed === null ? [] : (this.renderer.render(confirmed, row, session) ?? []);
    });
  }
}

/** From a row of events, or for `verification.updated` from the session's row. */
type ConfirmedEvent = BroadcastEvent & { readonly test: boolean };

/**
 * The event of a row; null where the message names another type or session than the row, the session is missing or of
 * another account, or it has not ended as the event says. The session's mode takes precedence, because an older release
 * writes rows without a mode.
 */
function storedEventOf(broadcast: BroadcastEvent, row?: StoredEvent, session?: Session): ConfirmedEvent | null {
  if (row === undefined || row.type !== broadcast.type || row.sessionId !== broadcast.sessionId) return null;
  if (row.sessionId !== null && session?.accountId !== row.accountId) return null;
  const ends = STATUS_BY_TERMINAL_EVENT.get(row.type);
  if (ends !== undefined && session?.status !== ends) return null;
  const { id, type, sessionId, accountId, occurredAt } = row;
  return { id, type, sessionId, accountId, test: session?.test ?? row.test, at: occurredAt.toISOString() };
}

/**
 * An event without a row of its own, with the session's account and mode; null when there is no such session, the time
 * is outside its lifetime, or the id is that of a stored event: receivers drop repeated ids, so the stored one would be
 * lost.
 */
function updateOf(
  { id, at }: BroadcastEvent,
  row: StoredEvent | undefined,
  session: Session | undefined,
  nowMs: number,
): ConfirmedEvent | null {
  if (row !== undefined || session === undefined) return null;
  const atMs = Date.parse(at);
  if (atMs < session.createdAt.getTime() - ID_CLOCK_SLACK_MS || atMs > nowMs + ID_CLOCK_SLACK_MS) return null;
  return { id, type: UPDATED, sessionId: session.id, accountId: session.accountId, test: session.test, at };
}

/**
 * The broadcast events, and after each receipt a `verification.updated` of its session, with an id that every control
 * plane derives alike.
 */
export function withUpdates(broadcasts: readonly BroadcastEvent[]): BroadcastEvent[] {
  return broadcasts.flatMap((event) =>
    event.type === 'verification.otp_delivery'
      ? [event, { ...event, id: siblingOf(event.id), type: UPDATED }]
      : [event],
  );
}

const siblingOf = (id: Uuid): Uuid => id.slice(0, -1) + (parseInt(id.slice(-1), 16) ^ 1).toString(16);
