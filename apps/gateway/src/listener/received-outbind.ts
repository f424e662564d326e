import type { Socket } from 'node:net';
import type { OutbindFields } from '@countersign/smpp/pdu';
import type { Peer } from './bind-authenticator.js';

/** An outbind over a connection that has not bound; the password is in clear and must not be stored or logged. */
export interface ReceivedOutbind extends OutbindFields {
  readonly peer: Peer;
  /**
   * The socket, paused, for a link that binds over it: the peer is authenticated. Null when the connection has closed
   * meanwhile. Call once.
   */
  releaseSocket(): Socket | null;
  /** Closes the connection: outbind has no response. */
  close(reason: string): void;
}
