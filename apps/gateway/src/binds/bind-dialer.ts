import { bindClientKey, bindPassword, type Bind, type BindHost } from '@countersign/carriers/config';
import { outbindPassword } from '@countersign/carriers/credentials';
import type { BindLease } from '@countersign/carriers/leases';
import { ServerKeys } from '@countersign/keys';
import type { Socket } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { SmppLink, type BindCall, type LinkHandlers } from '@countersign/smpp/link';
import { FlightRecorder } from '../recorder/flight-recorder.js';
import { linkEndsOf } from '../recorder/link-ends.js';
import { bindCallOf, linkOptionsOf } from './bind-options.js';
import { connect, type ConnectTls } from './connect.js';

/** Time limit of name lookup, connection and TLS handshake together. */
const CONNECT_TIMEOUT_MS = 5_000;

/** The reactions of the connection to its link. */
export interface DialedLinkHandlers extends Pick<LinkHandlers, 'onMessage' | 'pauseMs' | 'retryableStatus' | 'onPdu'> {
  /** Whether the lease is held: without it no PDU is sent. */
  readonly mayWrite: () => boolean;
  /** See `TappedLink`. */
  readonly fullUntil: () => Date | null;
}

/** Opens links to the hosts of carriers, recorded by the flight recorder. */
@Injectable()
export class BindDialer {
  readonly acceptedFrom = null;

  constructor(
    private readonly keys: ServerKeys,
    @Inject(FlightRecorder) private readonly recorder: Pick<FlightRecorder, 'tap'>,
  ) {}

  /** The bind request of this bind. Throws when its password cannot be opened: without it no connection is made. */
  bindCall(bind: Bind): BindCall {
    return bindCallOf(bind, bindPassword(this.keys, bind));
  }

  /** The passwords of a bind, in clear; in their sealed form where they cannot be opened. An outbind's only where there is one. */
  passwordsOf(bind: Bind): readonly (string | null)[] {
    const outbind = bind.outbind === null ? null : bind.outbindPasswordSealed;
    try {
      return [
        bindPassword(this.keys, bind),
        outbindPassword(this.keys, { id: bind.id, outbindPasswordSealed: outbind }),
      ];
    } catch {
      return [bind.passwordSealed.toString('base64'), outbind?.toString('base64') ?? null];
    }
  }

  /** Connects to this host; rejects when it is unreachable, when the client key cannot be opened, or when `signal` aborts first. */
  async openLink(
    bind: Bind,
    at: BindHost,
    lease: BindLease,
    handlers: DialedLinkHandlers,
    signal: AbortSignal,
  ): Promise<SmppLink> {
    const socket = await connect(at, this.tlsOf(bind), CONNECT_TIMEOUT_MS, signal);
    if (signal.aborted || !handlers.mayWrite()) socket.destroy();
    return this.linkOver(socket, bind, lease, handlers);
  }

  /** A link over a connected socket. */
  linkOver(socket: Socket, bind: Bind, lease: BindLease, { fullUntil, ...handlers }: DialedLinkHandlers): SmppLink {
    const onOctets = this.recorder.tap({ ...lease, ends: linkEndsOf(socket), fullUntil });
    return new SmppLink(socket, { ...linkOptionsOf(bind), handlers: { ...handlers, onOctets } });
  }

  private tlsOf(bind: Bind): ConnectTls {
    const clientKey = bind.tls.enabled ? bindClientKey(this.keys, bind) : null;
    return clientKey === null ? bind.tls : { ...bind.tls, clientKey };
  }
}
