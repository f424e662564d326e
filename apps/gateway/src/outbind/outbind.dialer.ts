import type { SmppSystem } from '@countersign/carriers/config';
import { outbindClientKey, outbindPassword } from '@countersign/carriers/credentials';
import { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import { Database, RowLease } from '@countersign/postgres';
import { connect } from '../binds/connect.js';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';
import { SystemLinks, type CallEnd } from '../listener/system-links.js';

/** Time limit of name lookup, connection and TLS handshake together. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Longer than the time limits of a connection and of the bind over it; then another gateway may call. */
const LEASE_MS = 20_000;

/** Calls systems: connects to the host of their outbind and sends it, under a lease of the system. */
@Injectable()
export class OutbindDialer {
  constructor(
    private readonly database: Database,
    private readonly keys: ServerKeys,
    private readonly links: SystemLinks,
    @Inject(GATEWAY_ID) private readonly self: Uuid,
  ) {}

  /** Acquires or renews the lease to call this system; false while another gateway holds it. */
  acquireLease({ id }: Pick<SmppSystem, 'id'>): Promise<boolean> {
    return this.leaseOf(id).acquire();
  }

  async releaseLease({ id }: Pick<SmppSystem, 'id'>): Promise<void> {
    await this.leaseOf(id).release();
  }

  /**
   * Resolves when the connection has ended. Rejects when the host is unreachable, when a secret of the outbind cannot be
   * opened, or when `signal` aborts before it is connected.
   */
  async call(system: SmppSystem, signal: AbortSignal): Promise<CallEnd> {
    const { id, outbind } = system;
    const password = outbindPassword(this.keys, system);
    if (outbind === null || password === null) throw new Error('the system has no outbind');
    const { host, port, tls } = outbind;
    const clientKey = tls.enabled ? outbindClientKey(this.keys, system) : null;
    const withTls = clientKey === null ? tls : { ...tls, clientKey };
    const socket = await connect({ host, port }, withTls, CONNECT_TIMEOUT_MS, signal);
    return this.links.callSystem(socket, { id, outbind }, password);
  }

  private leaseOf(id: Uuid): RowLease {
    return new RowLease(this.database, `outbind:${id}`, this.self, LEASE_MS);
  }
}
