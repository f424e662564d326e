import { type EventStore, showsSession, type StoredEvent } from '@countersign/events';
import { tenantOf, type Tenant } from '@countersign/keys';
import { ID_CLOCK_SLACK_MS, renderId, type Uuid } from '@countersign/ids';
import type { DatabaseClock, Executor } from '@countersign/postgres';
import type { SessionRenderer, SessionStore } from '@countersign/session';
import { STATUS_BY_TERMINAL_EVENT, type Session, type SessionStatus } from '@countersign/session/rules';
import { UPDATED, type BroadcastEvent } from '../events/event-broadcast.js';
import { type Channel, channelName } from './channel.js';
import { eventFrame } from './server-frame.js';
import { renderingOf, type SessionView } from './session-view.js';
import type { Rendering } from './channel-subscription.js';

export const ENDING_TYPES: readonly string[] = [...STATUS_BY_TERMINAL_EVENT.keys()];

/** The key of a rendered frame: there is one for each kind of channel and view. */
type Audience = `${'session' | 'account'} ${SessionView}`;

/** An event with what it tells, rendered once for each channel and view, however many listen. */
export class RenderedEvent implements Rendering {
  readonly ends: SessionStatus | null;
  /** The same on the account's channel. */
  readonly onAccount: Rendering;
  readonly #frames = new Map<Audience, Buffer | null>();

  constructor(
    readonly told: BroadcastEvent,
    /** The tenant whose account channel carries the event. */
    readonly tenant: Tenant,
    /** JSON text of a view; null where the view has no part in it. */
    private readonly dataIn: (view: SessionView) => string | null,
  ) {
    this.ends = STATUS_BY_TERMINAL_EVENT.get(told.type) ?? null;
    const account = { kind: 'account', id: told.accountId } as const;
    this.onAccount = { ends: null, inView: (view) => this.once('account', view, account) };
  }

  inView(view: SessionView): Buffer | null {
    const { sessionId } = this.told;
    return sessionId === null ? null : this.once('session', view, { kind: 'session', id: sessionId });
  }

  /** Rendering costs more than sending: no listener has it done again, not even where it gave nothing. */
  private once(kind: 'session' | 'account', view: SessionView, channel: Channel): Buffer | null {
    const audience: Audience = `${kind} ${view}`;
    const known = this.#frames.get(audience);
    if (known !== undefined) return known;
    const data = this.dataIn(view);
    const octets = data === null ? null : this.frame(channelName(channel), data);
    this.#frames.set(audience, octets);
    return octets;
  }

  private frame(channel: string, data: string): Buffer {
    const { id, type, at } = this.told;
    return eventFrame(channel, { id: renderId('evt', id), event: type, timestamp: at, data });
  }
}

export interface EventLoaderOptions {
  readonly database: Executor;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly sessions: Pick<SessionStore, 'findMany'>;
  readonly events: Pick<EventStore, 'findMany'>;
  readonly renderer: Pick<SessionRenderer, 'full' | 'reduced'>;
  readonly onError: (error: unknown) => void;
}

/**
 * Reads the rows of broadcast events, in sets. A message only says which rows to read: type, session, account, mode, time
 * and data come from the rows, and an event that the rows do not confirm is left out.
 */
export class EventLoader {
  constructor(private readonly o: EventLoaderOptions) {}

  async read(told: readonly BroadcastEvent[]): Promise<RenderedEvent[]> {
    const { database, clock, sessions, events } = this.o;
    const ofSessions = told.flatMap(({ type, sessionId, test }) =>
      sessionId !== null && (showsSession(type) || test === null) ? [sessionId] : [],
    );
    const [found, stored] = await Promise.all([
      sessions.findMany(database, [...new Set(ofSessions)]),
      events.findMany(
        database,
        told.map(({ id }) => id),
      ),
    ]);
    const byId = new Map<Uuid | null, Session>(found.map((session) => [session.id, session]));
    const nowMs = clock.nowMs();
    return told.flatMap((event) => {
      const [row, session] = [stored.get(event.id), byId.get(event.sessionId)];
      const confirmed =
        event.type === UPDATED ? updateOf(event, row, session, nowMs) : storedEventOf(event, row, session);
      return confirmed === null ? [] : (this.rendered(confirmed, row, session) ?? []);
    });
  }

  private rendered(event: ConfirmedEvent, row?: StoredEvent, session?: Session): RenderedEvent | null {
    const tenant = tenantOf(event);
    if (showsSession(event.type)) {
      return session === undefined ? null : new RenderedEvent(event, tenant, (view) => this.render(session, view));
    }
    const data = row?.data ?? null;
    // Subscribers with a ticket do not see these.
    return data === null ? null : new RenderedEvent(event, tenant, (view) => (view === 'reduced' ? null : data));
  }

  /** Null for what cannot be rendered, for want of a key for instance: that must not keep the others from being told. */
  private render(session: Session, view: SessionView): string | null {
    try {
      return this.o.renderer[renderingOf(view)](session);
    } catch (error) {
      this.o.onError(error);
      return null;
    }
  }
}

/** Of a row of events, or for `verification.updated` of the session's row. */
type ConfirmedEvent = BroadcastEvent & { readonly test: boolean };

/**
 * The event of a row; null where the message names another type or session than the row, or the session has not ended as
 * the event says. The session's mode takes precedence, because an older release writes rows without a mode.
 */
function storedEventOf(told: BroadcastEvent, row?: StoredEvent, session?: Session): ConfirmedEvent | null {
  if (row === undefined || row.type !== told.type || row.sessionId !== told.sessionId) return null;
  if (session !== undefined && session.accountId !== row.accountId) return null;
  const ends = STATUS_BY_TERMINAL_EVENT.get(row.type);
  if (ends !== undefined && session?.status !== ends) return null;
  const { id, type, sessionId, accountId, occurredAt } = row;
  return { id, type, sessionId, accountId, test: session?.test ?? row.test, at: occurredAt.toISOString() };
}

/**
 * An event without a row of its own, of the session's account and mode; null where there is no such session, the time is
 * not of its life, or the id is that of a stored event: receivers drop repeated ids, so the stored one would be lost.
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
 * What is told with an event: of a receipt also that its session was updated, under an id that every control plane makes
 * out alike.
 */
export function withUpdates(told: readonly BroadcastEvent[]): BroadcastEvent[] {
  return told.flatMap((event) =>
    event.type === 'verification.otp_delivery'
      ? [event, { ...event, id: siblingOf(event.id), type: UPDATED }]
      : [event],
  );
}

const siblingOf = (id: Uuid): Uuid => id.slice(0, -1) + (parseInt(id.slice(-1), 16) ^ 1).toString(16);
