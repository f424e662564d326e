import type { Socket } from 'node:net';
import type { Bind, BindHost } from '@countersign/carriers/config';
import type { BindLease } from '@countersign/carriers/leases';
import type { BindCall, SmppLink } from '@countersign/smpp/link';
import type { BindDialer, DialedLinkHandlers } from './bind-dialer.js';

/** Opens the links of one connection of a bind. */
export interface LinkSource extends Pick<BindDialer, 'bindCall' | 'passwordsOf' | 'openLink'> {
  /** The address of a carrier that has opened the connection itself; null when the gateway connects to the hosts of the bind. */
  readonly acceptedFrom: BindHost | null;
}

/** A connection that a carrier has opened, after its outbind was authenticated. */
export interface AcceptedConnection {
  readonly from: BindHost;
  /** The socket, paused; null when the connection has closed. Called once. */
  releaseSocket(): Socket | null;
}

/** The link over a connection that a carrier has opened: there is one, and no other follows. */
export class AcceptedLinkSource implements LinkSource {
  constructor(
    private readonly dialer: Pick<BindDialer, 'bindCall' | 'passwordsOf' | 'linkOver'>,
    private readonly accepted: AcceptedConnection,
  ) {}

  get acceptedFrom(): BindHost {
    return this.accepted.from;
  }

  bindCall(bind: Bind): BindCall {
    return this.dialer.bindCall(bind);
  }

  passwordsOf(bind: Bind): readonly (string | null)[] {
    return this.dialer.passwordsOf(bind);
  }

  /** Rejects when the carrier has closed the connection. */
  openLink(bind: Bind, _at: BindHost, lease: BindLease, handlers: DialedLinkHandlers): Promise<SmppLink> {
    const socket = this.accepted.releaseSocket();
    if (socket === null) return Promise.reject(new Error('the carrier closed the connection before the bind'));
    const link = this.dialer.linkOver(socket, bind, lease, handlers);
    socket.resume();
    return Promise.resolve(link);
  }
}
