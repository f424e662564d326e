import type { Uuid } from '@countersign/ids';
import type { Bind } from '../config/bind.entity.js';
import {
  count,
  instant,
  oneOf,
  orNull,
  parseInstant,
  parseStatus,
  rate,
  text,
  type StatusFields,
} from './stored-status.js';

export const CONNECTION_STATES = ['connecting', 'binding', 'bound', 'draining', 'standoff', 'unbound'] as const;
export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** The holding gateway's last status of a connection (contract, Admin): the JSON of `bind_connections.status`. */
export interface ConnectionStatus {
  /** The host being tried or bound; null before the first attempt. */
  readonly host: string | null;
  readonly state: ConnectionState;
  /** When this state began, RFC 3339. */
  readonly since: string | null;
  /** Our unanswered requests. */
  readonly windowUsed: number;
  /** Average of the last 10 s, as `deliverPerSecond`. */
  readonly submitPerSecond: number;
  readonly deliverPerSecond: number;
  /** Responses "throttled" or "queue full" since the bind. */
  readonly throttled: number;
  /** Round-trip time of the last enquire_link; null before the first answer. */
  readonly enquireLinkMs: number | null;
  readonly reconnects: number;
  /** Null once the connection is bound again: then it is `previousError`. */
  readonly lastError: string | null;
  /** RFC 3339. A gateway of an earlier release omits this field and those below. */
  readonly lastErrorAt?: string | null | undefined;
  readonly previousError?: PreviousError | null | undefined;
  /** Submits without a response since the bind. */
  readonly unanswered?: number | undefined;
}

/** An error that a later bind has ended. Times are RFC 3339. */
export interface PreviousError {
  readonly error: string;
  readonly at: string;
  readonly clearedAt: string;
}

/** The row of one connection of a bind. */
export interface BindSlot {
  readonly slot: number;
  readonly owner: Uuid | null;
  /** Whether the owner acts on it: its lease was renewed recently enough. */
  readonly held: boolean;
  /** When the owner stops, or stopped, acting on it without a renewal; null for a released connection. */
  readonly heldUntil: string | null;
  /** Unchecked JSON. */
  readonly status: unknown;
}

export interface BindConnection extends ConnectionStatus {
  /** The gateway that acts on it; null for none. */
  readonly owner: Uuid | null;
}

export const BIND_STATES = ['bound', 'degraded', 'unbound', 'disabled'] as const;
export type BindState = (typeof BIND_STATES)[number];

export interface BindStatus {
  readonly state: BindState;
  /** The wanted connections, and surplus ones that are still held. */
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

function previousErrorOf(stored: unknown): PreviousError | undefined {
  const none = { error: '', at: '', clearedAt: '' };
  const { error, at, clearedAt } = parseStatus<PreviousError>(
    { error: text, at: instant, clearedAt: instant },
    none,
    stored,
  );
  return at === '' || clearedAt === '' ? undefined : { error, at, clearedAt };
}

const FIELDS: StatusFields<ConnectionStatus> = {
  host: orNull(text),
  state: oneOf(CONNECTION_STATES),
  since: orNull(instant),
  windowUsed: count,
  submitPerSecond: rate,
  deliverPerSecond: rate,
  throttled: count,
  enquireLinkMs: orNull(rate),
  reconnects: count,
  lastError: orNull(text),
  lastErrorAt: orNull(instant),
  previousError: orNull(previousErrorOf),
  unanswered: count,
};

/** The state in a stored status; null for one that there is not. */
export const parseConnectionState = (stored: unknown): ConnectionState | null => FIELDS.state(stored) ?? null;

/** The error of a connection without one that a carrier has yet to open. */
const WAITING_FOR_OUTBIND = 'waiting for an outbind of the carrier';

type StatusBind = Pick<Bind, 'enabled' | 'connections' | 'hosts' | 'outbind'>;

/** The status of a bind from its row and those of its connections: connections without a holder are unbound. */
export function bindStatus(bind: StatusBind, slots: readonly BindSlot[]): BindStatus {
  const known = new Map(slots.map((slot) => [slot.slot, slot]));
  const isAwaited = bind.enabled && bind.outbind !== null;
  const wanted = Array.from({ length: bind.connections }, (_, slot) => {
    const connection = connectionOf(known.get(slot));
    if (!isAwaited || connection.owner !== null) return connection;
    return { ...connection, lastError: connection.lastError ?? WAITING_FOR_OUTBIND };
  });
  const surplus = slots.filter(({ slot, held }) => held && slot >= bind.connections).map(connectionOf);
  return { state: stateOf(bind, wanted), connections: [...wanted, ...surplus] };
}

/**
 * `degraded` when a connection is not bound, or when all are, but at fewer hosts than they could be. Connections that the
 * carrier opens have no hosts to be spread over.
 */
function stateOf({ enabled, hosts, outbind }: StatusBind, wanted: readonly ConnectionStatus[]): BindState {
  if (!enabled) return 'disabled';
  const bound = wanted.filter(({ state }) => state === 'bound');
  if (bound.length === 0) return 'unbound';
  const hostsInUse = new Set(bound.map(({ host }) => host)).size;
  const distinctHosts = new Set(hosts.map(({ host, port }) => `${host}:${port}`)).size;
  const isSpread = outbind !== null || hostsInUse >= Math.min(distinctHosts, wanted.length);
  return bound.length === wanted.length && isSpread ? 'bound' : 'degraded';
}

/** An unheld connection keeps its last host, reconnect count and error. */
function connectionOf(slot: BindSlot | undefined): BindConnection {
  if (slot === undefined) return { ...UNBOUND, owner: null };
  const { owner, held, status } = slot;
  const stored = parseStatus(FIELDS, UNBOUND, status);
  if (held) return { ...stored, owner };
  const { host, reconnects, lastError, lastErrorAt, previousError } = stored;
  const heldUntil = parseInstant(slot.heldUntil);
  const since = status !== null && stored.state === 'unbound' ? (stored.since ?? heldUntil) : heldUntil;
  return { ...UNBOUND, host, since, reconnects, lastError, lastErrorAt, previousError, owner: null };
}
