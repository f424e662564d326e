import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns';
import type { LookupAll } from '../../apps/control-plane/src/webhooks/name-lookup.js';

const HEADER_OCTETS = 12;
const TYPE_A = 1;
const TYPE_AAAA = 28;
/** QR, RD and RA: an answer without an error (RFC 1035, 4.1.1). */
const ANSWER_FLAGS = 0x8180;
/** A pointer back to the name in the question (RFC 1035, 4.1.4). */
const NAME_POINTER = 0xc00c;
/** TTL 0: resolvers must not cache the answer, as for a name that is about to change. */
const TTL_SECONDS = 0;

export interface NameServer {
  /** Resolves all addresses of a name by this server, over UDP. */
  readonly lookUp: LookupAll;
  /** `address:port`. */
  readonly address: string;
  /** The names of the received questions, one for each look-up. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/**
 * A DNS server on loopback whose answers change (DNS rebinding): each look-up of a name gets the next list of IPv4
 * addresses, further ones the last list. Names with `silence` get no answer.
 */
export async function startNameServer(
  answers: Readonly<Record<string, readonly (readonly string[])[] | 'silence'>>,
): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query);
    if (type === TYPE_A) asked.push(name);
    const lists = answers[name] ?? [];
    if (lists === 'silence') return;
    const turn = asked.filter((each) => each === name).length - 1;
    const addresses = type === TYPE_A ? (lists[Math.min(turn, lists.length - 1)] ?? []) : [];
    socket.send(answerTo(query.subarray(0, end), addresses), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${portOf(socket)}`;
  const resolver = new Resolver({ timeout: 2_000, tries: 1 });
  resolver.setServers([address]);
  const lookUp: LookupAll = (hostname, done) => {
    resolver.resolve4(hostname, (error, addresses) => {
      done(error, error === null ? addresses.map((address) => ({ address, family: 4 })) : []);
    });
  };
  return { lookUp, address, asked, close: () => new Promise((resolve) => socket.close(() => resolve())) };
}

const portOf = (socket: Socket): number => socket.address().port;

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_OCTETS;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1);
  if (type !== TYPE_A && type !== TYPE_AAAA) throw new Error(`nobody asks for records of type ${type} here`);
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 };
}

/** The question as received, and one record for each address. */
function answerTo(question: Buffer, addresses: readonly string[]): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(ANSWER_FLAGS, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.fill(0, 8, HEADER_OCTETS);
  const records = addresses.map((address) => {
    const record = Buffer.alloc(16);
    record.writeUInt16BE(NAME_POINTER, 0);
    record.writeUInt16BE(TYPE_A, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(TTL_SECONDS, 6);
    record.writeUInt16BE(4, 10);
    Buffer.from(address.split('.').map(Number)).copy(record, 12);
    return record;
  });
  return Buffer.concat([head, ...records]);
}
