import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';

/** Alerts (RFC 8446, 6.2) that refuse a ClientHello. */
export const HANDSHAKE_FAILURE = 40;
export const PROTOCOL_VERSION = 70;

const FFDHE8192 = 0x0104;
const FFDHE8192_OCTETS = 1024;
const TLS_1_2 = 0x0303;
const [ALERT, HANDSHAKE] = [21, 22];
const ANSWER_MS = 10_000;

const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
/** The octets after their length in two octets. */
const counted = (octets: Buffer): Buffer => Buffer.concat([uint16(octets.length), octets]);
const extension = (type: number, octets: Buffer): Buffer => Buffer.concat([uint16(type), counted(octets)]);
const list = (...values: readonly number[]): Buffer => counted(Buffer.concat(values.map(uint16)));

const GROUPS = extension(10, list(FFDHE8192));
const SIGNATURES = extension(13, list(0x0804, 0x0403, 0x0401, 0x0805, 0x0806, 0x0503));

/** A record with a ClientHello (RFC 8446, 4.1.2) of these cipher suites and extensions. */
function clientHello(suites: Buffer, ...extensions: readonly Buffer[]): Buffer {
  const sessionId = randomBytes(32);
  const hello = Buffer.concat([
    uint16(TLS_1_2),
    randomBytes(32),
    Buffer.from([sessionId.length]),
    sessionId,
    suites,
    Buffer.from([1, 0]),
    counted(Buffer.concat(extensions)),
  ]);
  const message = Buffer.concat([Buffer.from([1, 0]), counted(hello)]);
  return Buffer.concat([Buffer.from([HANDSHAKE, 3, 1]), counted(message)]);
}

/** TLS 1.3 with the group ffdhe8192 alone. Its key share is random: the server cannot tell before it has computed with it. */
export function finiteFieldHello(): Buffer {
  const key = Buffer.concat([Buffer.from([0x42]), randomBytes(FFDHE8192_OCTETS - 1)]);
  const share = Buffer.concat([uint16(FFDHE8192), counted(key)]);
  return clientHello(
    list(0x1301, 0x1302, 0x1303),
    extension(43, Buffer.from([2, 3, 4])),
    GROUPS,
    extension(51, counted(share)),
    SIGNATURES,
  );
}

/** TLS 1.2 with the suites DHE_RSA_WITH_AES_{128,256}_GCM and DHE_RSA_WITH_AES_128_CBC_SHA alone. */
export const diffieHellmanHello = (): Buffer => clientHello(list(0x009e, 0x009f, 0x0033), SIGNATURES);

/** The description of the alert that a port answers a ClientHello with; -1 for a ServerHello, null for no TLS record. */
export async function alertFor(port: number, hello: Buffer): Promise<number | null> {
  const socket = connect(port, '127.0.0.1');
  let answer = Buffer.alloc(0);
  try {
    socket.write(hello);
    const signal = AbortSignal.timeout(ANSWER_MS);
    while (answer.length < 7) {
      const [octets] = (await once(socket, 'data', { signal })) as [Buffer];
      answer = Buffer.concat([answer, octets]);
    }
    if (answer[0] === HANDSHAKE) return -1;
    return answer[0] === ALERT ? (answer[6] ?? null) : null;
  } finally {
    socket.destroy();
  }
}
