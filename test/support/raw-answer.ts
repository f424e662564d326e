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

/** A request that is sent in part. */
export interface HeldRequest {
  /** Sends the rest. Resolves with the answer when the server has closed the connection. */
  readonly finish: (rest: string) => Promise<RawAnswer>;
}

/**
 * The answer to octets as they are sent over TLS, which a client library would not send. The server closes the
 * connection: it does so itself, or because of `Connection: close` among the octets.
 *
 * @param localAddress the address of the client
 */
export async function rawAnswer(port: number, octets: string, localAddress: string): Promise<RawAnswer> {
  return (await heldRequest(port, octets, localAddress)).finish('');
}

/** As `rawAnswer`, for a request whose last octets are sent later. */
export async function heldRequest(port: number, octets: string, localAddress: string): Promise<HeldRequest> {
  const line = connect({ host: '127.0.0.1', port, localAddress });
  const socket = connectTls({ socket: line, rejectUnauthorized: false });
  let text = '';
  socket.setEncoding('latin1').on('data', (data: string) => (text += data));
  await once(socket, 'secureConnect');
  socket.on('error', () => undefined).setTimeout(DEADLINE_MS, () => socket.destroy());
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(octets);
  return {
    finish: async (rest) => {
      if (rest !== '') socket.write(rest);
      await closed;
      const [, status = '0'] = /^HTTP\/1\.1 (\d{3}) /.exec(text) ?? [];
      return { status: Number(status), code: /"code":"([A-Z_]+)"/.exec(text)?.[1], text };
    },
  };
}
