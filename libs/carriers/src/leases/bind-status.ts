import type { Uuid } from '@countersign/ids';
import type { Bind } from '../config/carrier.js';

export const CONNECTION_STATES = ['connecting', 'binding', 'bound', 'draining', 'standoff', 'unbound'] as const;
export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** What the gateway that holds a connection last saw of it (contract, Admin): the JSON of `bind_connections.status`. */
export interface ConnectionStatus {
  /** The host that is tried or bound; null before the first attempt. */
  readonly host: string | null;
  readonly state: ConnectionState;
  /** When the state was entered, RFC 3339. */
  readonly since: string | null;
  /** Our requests that are unanswered. */
  readonly windowUsed: number;
  /** Seen in the last 10 s, as the next one. */
  readonly submitPerSecond: number;
  readonly deliverPerSecond: number;
  /** Answers that said "too fast" or "queue full" since it was bound. */
  readonly throttled: number;
  /** How long the last enquire_link took; null before one was answered. */
  readonly enquireLinkMs: number | null;
  readonly reconnects: number;
  readonly lastError: string | null;
}

/** The row of one connection of a bind. */
export interface BindSlot {
  readonly slot: number;
  readonly owner: Uuid | null;
  /** Whether the owner acts on it: it has renewed its lease lately enough. */
  readonly held: boolean;
  /** When it ceases, or ceased, to unless it renews its lease; null for a connection that was given back. */
  readonly heldUntil: string | null;
  /** A gateway of another version may say less. */
  readonly status: Partial<ConnectionStatus> | null;
}

export interface BindConnection extends ConnectionStatus {
  /** The gateway that acts on it; null for none. */
  readonly owner: Uuid | null;
}

export const BIND_STATES = ['bound', 'degraded', 'unbound', 'disabled'] as const;
export type BindState = (typeof BIND_STATES)[number];

export interface BindStatus {
  readonly state: BindState;
  /** Those that are wanted, and those that are still held. */
  readonly connections: readonly BindConnection[];
}

const UNBOUND: ConnectionStatus = {
  host: null,
  state: 'unbound',
  since: null,
  windowUsed: 0,
  submitPerSecond: 0,
  deliverPerSecond: 0,
  throttled: 0,
  enquireLinkMs: null,
  reconnects: 0,
  lastError: null,
};

/** How a bind is doing, from its row and those of its connections: what nobody holds any more is unbound. */
export function bindStatus(bind: Pick<Bind, 'enabled' | 'connections'>, slots: readonly BindSlot[]): BindStatus {
  const known = new Map(slots.map((slot) => [slot.slot, slot]));
  const wanted = Array.from({ length: bind.connections }, (_, slot) => connectionOf(known.get(slot)));
  const surplus = slots.filter(({ slot, held }) => held && slot >= bind.connections).map(connectionOf);
  return { state: stateOf(bind, wanted), connections: [...wanted, ...surplus] };
}

function stateOf({ enabled }: Pick<Bind, 'enabled'>, wanted: readonly ConnectionStatus[]): BindState {
  if (!enabled) return 'disabled';
  const bound = wanted.filter(({ state }) => state === 'bound').length;
  if (bound === 0) return 'unbound';
  return bound === wanted.length ? 'bound' : 'degraded';
}

/** What was true of a connection once stays to be read: where it was, how often it was made anew, what went wrong. */
function connectionOf(slot: BindSlot | undefined): BindConnection {
  if (slot === undefined) return { ...UNBOUND, owner: null };
  const { owner, held, heldUntil, status } = slot;
  if (held) return { ...UNBOUND, ...status, owner };
  const { host = null, reconnects = 0, lastError = null } = status ?? {};
  const since = status?.state === 'unbound' ? (status.since ?? heldUntil) : heldUntil;
  return { ...UNBOUND, host, since, reconnects, lastError, owner: null };
}
