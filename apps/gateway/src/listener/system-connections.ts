import type { SmppSystem } from '@countersign/carriers/config';
import { SystemConnectionStore, type ConnectionsElsewhere } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import { Injectable } from '@nestjs/common';
import { Database } from '@countersign/postgres';
import { MessageRate, shareOfRate } from './message-rate.js';

/** Connections of one system, and the rate that those of this gateway share. */
interface Connections {
  readonly rate: MessageRate;
  perSecond: number | null;
  here: number;
  elsewhere: number;
  /** Of those elsewhere, bound as receiver or transceiver. */
  receiversElsewhere: number;
}

/** A counted connection of a system. */
export interface CountedConnection {
  /** Shared by all connections of the system. */
  readonly rate: MessageRate;
  /** Applies a changed rate of the system to all its connections. */
  readonly setSystemRate: (system: SmppSystem) => void;
  /** Call once, when the connection ends. */
  readonly remove: () => void;
}

/** Counts the connections of systems, and divides the rate of each system. */
@Injectable()
export class SystemConnections {
  readonly #systems = new Map<Uuid, Connections>();

  constructor(
    private readonly store: SystemConnectionStore,
    private readonly database: Database,
  ) {}

  /** Number of connections of the system at other gateways. Rejects when the database is unreachable. */
  countElsewhere(id: Uuid): Promise<number> {
    return this.store.countOfSystemElsewhere(this.database, id);
  }

  /** Number of connections of the system at this gateway. */
  countHere(id: Uuid): number {
    return this.#systems.get(id)?.here ?? 0;
  }

  /** Number of connections of the system at other gateways that receive; until the first count, that of all. */
  receiversElsewhere(id: Uuid): number {
    return this.#systems.get(id)?.receiversElsewhere ?? 0;
  }

  /** Sets the number of connections of each system at other gateways, which share its rates. */
  setConnectionsElsewhere(elsewhere: ReadonlyMap<Uuid, ConnectionsElsewhere>): void {
    for (const [id, connections] of this.#systems) {
      const counted = elsewhere.get(id);
      connections.elsewhere = counted?.connections ?? 0;
      connections.receiversElsewhere = counted?.receivers ?? 0;
      setShareOfRate(connections);
    }
  }

  addConnection({ id, submitPerSecond: perSecond }: SmppSystem, elsewhere: number): CountedConnection {
    const rate = new MessageRate(shareOfRate(perSecond, 1, elsewhere), performance.now());
    const connections = this.#systems.get(id) ?? { rate, perSecond, here: 0, elsewhere, receiversElsewhere: elsewhere };
    this.#systems.set(id, connections);
    connections.here += 1;
    connections.elsewhere = elsewhere;
    setShareOfRate(connections);
    return {
      rate: connections.rate,
      setSystemRate: ({ submitPerSecond }) => setSystemRate(connections, submitPerSecond),
      remove: () => this.removeConnection(id, connections),
    };
  }

  private removeConnection(id: Uuid, connections: Connections): void {
    connections.here -= 1;
    if (connections.here > 0) setShareOfRate(connections);
    else this.#systems.delete(id);
  }
}

function setSystemRate(connections: Connections, perSecond: number | null): void {
  if (connections.perSecond === perSecond) return;
  connections.perSecond = perSecond;
  setShareOfRate(connections);
}

function setShareOfRate({ rate, perSecond, here, elsewhere }: Connections): void {
  rate.setLimit(shareOfRate(perSecond, here, elsewhere), performance.now());
}
