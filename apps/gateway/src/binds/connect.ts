import net from 'node:net';
import tls from 'node:tls';
import type { BindHost, BindTls } from '@countersign/carriers/config';
import { AGREED_TLS, GuardedTlsStream } from '@countersign/tls';

/** A carrier that asks for client certificates may list all authorities that it trusts: those of a usual computer have 20 KiB. */
const MAX_HANDSHAKE_OCTETS = 64 * 1024;

export class ConnectTimeoutError extends Error {
  override readonly name = 'ConnectTimeoutError';
}

/** The TLS of a bind with the key of its client certificate. */
export interface ConnectTls extends BindTls {
  /** PEM. */
  readonly clientKey?: string;
}

/**
 * Opens a socket to a carrier; with TLS, version 1.2 or later and a verified certificate, and the
 * client certificate if there is one. Rejects with the socket's error,
 * with `ConnectTimeoutError` when name lookup, connection and handshake together take longer than `timeoutMs`, and with
 * the signal's reason. The socket is destroyed on every rejection.
 */
export function connect(
  at: BindHost,
  withTls: ConnectTls,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = withTls.enabled ? secured(at, withTls) : net.connect({ ...at });
    const finish = (complete: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError);
      complete();
    };
    const fail = (error: Error): void =>
      finish(() => {
        // A destroyed socket can still emit an error.
        socket.on('error', () => undefined);
        socket.destroy();
        reject(error);
      });
    const onError = (error: Error): void => fail(error);
    const onAbort = (): void => fail(new Error('the bind was stopped'));
    const timer = setTimeout(
      () => fail(new ConnectTimeoutError(`no connection to ${at.host}:${at.port} within ${timeoutMs} ms`)),
      timeoutMs,
    );
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', onError);
    socket.once(withTls.enabled ? 'secureConnect' : 'connect', () => finish(() => resolve(socket)));
  });
}

/** A connection that a flood of records without content ends. */
function secured(at: BindHost, withTls: ConnectTls): tls.TLSSocket {
  const tcp = net.connect({ ...at, noDelay: true });
  const stream = new GuardedTlsStream(tcp, MAX_HANDSHAKE_OCTETS);
  const socket = tls.connect({ ...tlsOptions(at, withTls), socket: stream });
  stream.on('error', (error) => socket.destroy(error));
  // Node emits an error of the stream on the TLS socket too, perhaps after the link has removed its listeners: an error without a
  // listener ends the process.
  socket.on('error', () => undefined);
  socket.once('secureConnect', () => stream.complete(() => socket.bytesRead));
  // A TLS socket over a stream does not have the addresses.
  for (const name of ['localAddress', 'localPort', 'remoteAddress', 'remotePort'] as const)
    Object.defineProperty(socket, name, { get: () => tcp[name] });
  return socket;
}

function tlsOptions(at: BindHost, withTls: ConnectTls): tls.ConnectionOptions {
  const { clientCertificate, clientKey } = withTls;
  return {
    ...at,
    ...AGREED_TLS,
    rejectUnauthorized: true,
    ...(withTls.caCertificate === undefined ? {} : { ca: withTls.caCertificate }),
    ...(withTls.serverName === undefined ? {} : { servername: withTls.serverName }),
    ...(clientCertificate === undefined ? {} : { cert: clientCertificate }),
    ...(clientKey === undefined ? {} : { key: clientKey }),
  };
}
