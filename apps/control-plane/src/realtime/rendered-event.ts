import { type EventStore, showsSession } from '@countersign/events';
import { tenantOf, type Tenant } from '@countersign/keys';
import { renderId, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
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
    /** The tenant whose account channel carries the event; null where the mode is not known. */
    readonly tenant: Tenant | null,
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
  readonly sessions: Pick<SessionStore, 'findMany'>;
  readonly events: Pick<EventStore, 'dataOf'>;
  readonly renderer: Pick<SessionRenderer, 'full' | 'reduced'>;
  readonly onError: (error: unknown) => void;
}

/** Reads what told events tell of, in sets. What is no longer there is left out. */
export class EventLoader {
  constructor(private readonly o: EventLoaderOptions) {}

  async read(told: readonly BroadcastEvent[]): Promise<RenderedEvent[]> {
    const { database, sessions, events } = this.o;
    const selfContained = told.filter(({ type }) => !showsSession(type)).map(({ id }) => id);
    const ofSessions = told.flatMap(({ type, sessionId, test }) =>
      sessionId !== null && (showsSession(type) || test === null) ? [sessionId] : [],
    );
    const [found, data] = await Promise.all([
      sessions.findMany(database, [...new Set(ofSessions)]),
      events.dataOf(database, selfContained),
    ]);
    const byId = new Map<Uuid | null, Session>(found.map((session) => [session.id, session]));
    return told.flatMap((event) => {
      const session = byId.get(event.sessionId);
      const tenant = tenantOfEvent(event, session);
      if (!showsSession(event.type)) {
        // Who has a ticket does not see these.
        const text = data.get(event.id);
        return text === undefined
          ? []
          : [new RenderedEvent(event, tenant, (view) => (view === 'reduced' ? null : text))];
      }
      return session === undefined ? [] : [new RenderedEvent(event, tenant, (view) => this.render(session, view))];
    });
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

/** The session's row takes precedence, because an older release sends events without a mode. */
function tenantOfEvent({ accountId, test }: BroadcastEvent, session: Session | undefined): Tenant | null {
  if (session !== undefined) return tenantOf(session);
  return test === null ? null : tenantOf({ accountId, test });
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
