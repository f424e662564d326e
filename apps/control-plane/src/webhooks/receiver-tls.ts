import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { AGREED_TLS, GuardedTlsStream } from '@countersign/tls';
import { errors, type buildConnector } from 'undici';

/** One context for all connections, and no sessions kept: 20 KB less for each. */
const context = tls.createSecureContext({ ...AGREED_TLS });

/**
 * Completes a TLS handshake with the receiver `hostname` over a connection. The error is that of the handshake, or of the
 * certificate, `HandshakeTooLarge`, or a ConnectTimeoutError after `timeoutMs`; the connection is then closed. Later it is closed
 * with `RecordsWithoutContent`.
 */
export function secureReceiver(
  below: Duplex,
  hostname: string,
  timeoutMs: number,
  connected: buildConnector.Callback,
): void {
  const stream = new GuardedTlsStream(below);
  const secured = tls.connect({
    socket: stream,
    secureContext: context,
    host: hostname,
    servername: isIP(hostname) === 0 ? hostname : '',
    ALPNProtocols: ['http/1.1'],
  });
  let isSettled = false;
  const settle = (error: Error | null): void => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    if (error === null) {
      stream.complete(() => secured.bytesRead);
      connected(null, secured);
    } else {
      secured.destroy();
      connected(error, null);
    }
  };
  const timer = setTimeout(() => settle(new errors.ConnectTimeoutError()), Math.max(0, timeoutMs));
  stream.on('error', (error) => (isSettled ? secured.destroy(error) : settle(error)));
  secured.on('error', settle).once('secureConnect', () => settle(null));
  secured.once('close', () => settle(new errors.SocketError('closed during the TLS handshake')));
}
