import { isIPv4, isIPv6 } from 'node:net';

export interface Endpoint {
  /** An IP address; anything else is written as 0.0.0.0. */
  readonly address: string;
  readonly port: number;
}

/** PDUs of one TCP connection. */
export interface Conversation {
  readonly local: Endpoint;
  readonly remote: Endpoint;
  /** In order of transmission. */
  readonly pdus: readonly CapturedPdu[];
}

export interface CapturedPdu {
  /** Unix time in milliseconds, may have a fraction. */
  readonly atMs: number;
  readonly direction: 'in' | 'out';
  readonly octets: Buffer;
}

interface Packet {
  readonly atMs: number;
  readonly octets: Buffer;
}

const MAGIC = 0xa1b2_c3d4;
const FILE_HEADER_OCTETS = 24;
const RECORD_HEADER_OCTETS = 16;
const SNAP_OCTETS = 65_535;
/** Packets begin with their IP header, version 4 or 6. */
const LINKTYPE_RAW = 101;
const TCP_OCTETS = 20;
const TCP = 6;
const HOP_LIMIT = 64;
const PUSH_AND_ACK = 0x18;
const RECEIVE_WINDOW = 0xffff;
/** Longer PDUs are split into several TCP segments. */
const SEGMENT_OCTETS = 32_768;
const NO_ADDRESS = Buffer.alloc(4);

/**
 * Writes a capture file in the classic format (pcap 2.4) that Wireshark reads: the PDUs as TCP segments of their
 * connections, ordered by time. IP and TCP headers are synthetic except for addresses and ports: no loss, no
 * retransmission.
 */
export function pcapOf(conversations: readonly Conversation[]): Buffer {
  const packets = conversations.flatMap(packetsOf).sort((a, b) => a.atMs - b.atMs);
  return Buffer.concat([fileHeader(), ...packets.flatMap((packet) => [recordHeader(packet), packet.octets])]);
}

function fileHeader(): Buffer {
  const header = Buffer.alloc(FILE_HEADER_OCTETS);
  header.writeUInt32BE(MAGIC, 0);
  header.writeUInt16BE(2, 4);
  header.writeUInt16BE(4, 6);
  header.writeUInt32BE(SNAP_OCTETS, 16);
  header.writeUInt32BE(LINKTYPE_RAW, 20);
  return header;
}

function recordHeader({ atMs, octets }: Packet): Buffer {
  const header = Buffer.alloc(RECORD_HEADER_OCTETS);
  const micros = Math.round(atMs * 1_000);
  header.writeUInt32BE(Math.floor(micros / 1_000_000), 0);
  header.writeUInt32BE(micros % 1_000_000, 4);
  header.writeUInt32BE(octets.length, 8);
  header.writeUInt32BE(octets.length, 12);
  return header;
}

function packetsOf({ local, remote, pdus }: Conversation): Packet[] {
  const packets: Packet[] = [];
  // Next TCP sequence number of each side.
  let [sent, received] = [1, 1];
  for (const { atMs, direction, octets } of pdus) {
    for (let at = 0; at < octets.length; at += SEGMENT_OCTETS) {
      const payload = octets.subarray(at, at + SEGMENT_OCTETS);
      if (direction === 'out') {
        packets.push({ atMs, octets: packetOf(local, remote, { sequence: sent, ack: received, payload }) });
        sent = (sent + payload.length) >>> 0;
      } else {
        packets.push({ atMs, octets: packetOf(remote, local, { sequence: received, ack: sent, payload }) });
        received = (received + payload.length) >>> 0;
      }
    }
  }
  return packets;
}

interface Segment {
  readonly sequence: number;
  readonly ack: number;
  readonly payload: Buffer;
}

function packetOf(from: Endpoint, to: Endpoint, { sequence, ack, payload }: Segment): Buffer {
  let [source, target] = [addressOctets(from.address), addressOctets(to.address)];
  // An IP packet has one version: with mixed addresses, both become 0.0.0.0.
  if (source.length !== target.length) [source, target] = [NO_ADDRESS, NO_ADDRESS];
  const tcp = Buffer.alloc(TCP_OCTETS + payload.length);
  tcp.writeUInt16BE(from.port, 0);
  tcp.writeUInt16BE(to.port, 2);
  tcp.writeUInt32BE(sequence, 4);
  tcp.writeUInt32BE(ack, 8);
  tcp.writeUInt8((TCP_OCTETS / 4) << 4, 12);
  tcp.writeUInt8(PUSH_AND_ACK, 13);
  tcp.writeUInt16BE(RECEIVE_WINDOW, 14);
  payload.copy(tcp, TCP_OCTETS);
  const pseudo = Buffer.alloc(4);
  pseudo.writeUInt16BE(TCP, 0);
  pseudo.writeUInt16BE(tcp.length, 2);
  tcp.writeUInt16BE(checksumOf([source, target, pseudo, tcp]), 16);
  return Buffer.concat([
    source.length === NO_ADDRESS.length ? ipv4(source, target, tcp) : ipv6(source, target, tcp),
    tcp,
  ]);
}

function ipv4(source: Buffer, target: Buffer, { length }: Buffer): Buffer {
  const header = Buffer.alloc(20);
  header.writeUInt8(0x45, 0);
  header.writeUInt16BE(header.length + length, 2);
  header.writeUInt8(HOP_LIMIT, 8);
  header.writeUInt8(TCP, 9);
  source.copy(header, 12);
  target.copy(header, 16);
  header.writeUInt16BE(checksumOf([header]), 10);
  return header;
}

function ipv6(source: Buffer, target: Buffer, { length }: Buffer): Buffer {
  const header = Buffer.alloc(40);
  header.writeUInt8(0x60, 0);
  header.writeUInt16BE(length, 4);
  header.writeUInt8(TCP, 6);
  header.writeUInt8(HOP_LIMIT, 7);
  source.copy(header, 8);
  target.copy(header, 24);
  return header;
}

/** RFC 1071. Every part but the last has an even length. */
function checksumOf(parts: readonly Buffer[]): number {
  let sum = 0;
  for (const part of parts) {
    for (let at = 0; at < part.length; at += 2) sum += ((part[at] ?? 0) << 8) | (part[at + 1] ?? 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x1_0000);
  return ~sum & 0xffff;
}

/** 4 or 16 octets. An IPv4-mapped IPv6 address becomes an IPv4 address. */
function addressOctets(address: string): Buffer {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (isIPv4(plain)) return Buffer.from(plain.split('.').map(Number));
  return isIPv6(plain) ? ipv6Octets(plain) : NO_ADDRESS;
}

function ipv6Octets(address: string): Buffer {
  // URL parsing rewrites a dotted last part as hexadecimal groups.
  const spelled = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail = ''] = spelled.split('::');
  const [first, last] = [head, tail].map((side) => side.split(':').filter((group) => group !== ''));
  const octets = Buffer.alloc(16);
  const put = (groups: readonly string[], at: number): void =>
    groups.forEach((group, n) => octets.writeUInt16BE(Number.parseInt(group, 16), at + 2 * n));
  put(first ?? [], 0);
  put(last ?? [], 16 - 2 * (last?.length ?? 0));
  return octets;
}
