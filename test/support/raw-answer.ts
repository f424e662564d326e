import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface RawAnswer {
  readonly status: number;
  /** The code of the error; undefined without one. */
  readonly code: string | undefined;
  readonly text: string;
}

const DEADLINE_MS = 20_000;

/**
 * The answer to octets as they are sent over TLS, which a client library would not send. The server closes the
 * connection: it does so itself, or because of `Connection: close` among the octets.
 *
 * @param localAddress the address of the client
 */
export async function rawAnswer(port: number, octets: string, localAddress: string): Promise<RawAnswer> {
  const line = connect({ host: '127.0.0.1', port, localAddress });
  const socket = connectTls({ socket: line, rejectUnauthorized: false });
  let text = '';
  socket.setEncoding('latin1').on('data', (data: string) => (text += data));
  await once(socket, 'secureConnect');
  socket.on('error', () => undefined).setTimeout(DEADLINE_MS, () => socket.destroy());
  socket.write(octets);
  await once(socket, 'close');
  const [, status = '0'] = /^HTTP\/1\.1 (\d{3}) /.exec(text) ?? [];
  return { status: Number(status), code: /"code":"([A-Z_]+)"/.exec(text)?.[1], text };
}
