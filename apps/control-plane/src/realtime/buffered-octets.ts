/** Octets that all WebSockets of this process together may hold for clients that have not read them, … */
const MAX_OCTETS = 128 * 1024 * 1024;
/** … and those of one account and mode, or of all admin keys: a quarter of them. */
const MAX_OCTETS_OF_TENANT = MAX_OCTETS / 4;

export interface BufferedLimits {
  readonly octets: number;
  readonly octetsOfTenant: number;
}

/** A connection that can be closed because of what its client has not read. */
export interface BufferingConnection {
  /** Frees its buffers at once. */
  closeSlow(): void;
}

/** Connections of one tenant whose clients are behind, each with its buffered octets. */
interface Backlog {
  readonly connections: Map<BufferingConnection, number>;
  octets: number;
}

/**
 * Counts the octets that connections have buffered. Beyond the limit of a tenant the connection of that tenant with the
 * most is closed, beyond the limit of the process that of the tenant with the most. A connection without buffered octets
 * costs nothing here.
 */
export class BufferedOctets {
  readonly #backlogs = new Map<string, Backlog>();
  #octets = 0;

  constructor(private readonly limits: BufferedLimits = { octets: MAX_OCTETS, octetsOfTenant: MAX_OCTETS_OF_TENANT }) {}

  get octets(): number {
    return this.#octets;
  }

  /** From now on the connection has so many buffered. `tenant` must stay the same until it has none. */
  set(connection: BufferingConnection, tenant: string, octets: number): void {
    const backlog = this.#backlogs.get(tenant) ?? { connections: new Map(), octets: 0 };
    const added = octets - (backlog.connections.get(connection) ?? 0);
    backlog.octets += added;
    this.#octets += added;
    if (octets > 0) backlog.connections.set(connection, octets);
    else backlog.connections.delete(connection);
    if (backlog.connections.size > 0) this.#backlogs.set(tenant, backlog);
    else this.#backlogs.delete(tenant);
    if (added <= 0) return;
    while (backlog.octets > this.limits.octetsOfTenant) this.closeLargest(tenant, backlog);
    while (this.#octets > this.limits.octets) this.closeLargest(...this.largest());
  }

  private closeLargest(tenant: string, { connections }: Backlog): void {
    const [slowest] = [...connections].reduce((one, other) => (other[1] > one[1] ? other : one));
    this.set(slowest, tenant, 0);
    slowest.closeSlow();
  }

  private largest(): [string, Backlog] {
    return [...this.#backlogs].reduce((one, other) => (other[1].octets > one[1].octets ? other : one));
  }
}
