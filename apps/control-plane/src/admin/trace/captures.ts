/** Octets of the header of a capture file and of each packet in it (pcap 2.4, big-endian, as gateways write it). */
const FILE_HEADER_OCTETS = 24;
const RECORD_HEADER_OCTETS = 16;
const LENGTH_AT = 8;

interface CapturedPacket {
  readonly atMicros: number;
  readonly octets: Buffer;
}

/**
 * Merges capture files of several gateways in the order of time. Truncated packets at the end of a file are left out.
 */
export function mergeCaptures(captures: readonly Buffer[]): Buffer {
  const header = captures[0]?.subarray(0, FILE_HEADER_OCTETS) ?? Buffer.alloc(0);
  const packets = captures.flatMap(packetsOf).sort((a, b) => a.atMicros - b.atMicros);
  return Buffer.concat([header, ...packets.map(({ octets }) => octets)]);
}

function packetsOf(capture: Buffer): CapturedPacket[] {
  const packets: CapturedPacket[] = [];
  let at = FILE_HEADER_OCTETS;
  while (at + RECORD_HEADER_OCTETS <= capture.length) {
    const end = at + RECORD_HEADER_OCTETS + capture.readUInt32BE(at + LENGTH_AT);
    if (end > capture.length) break;
    const atMicros = capture.readUInt32BE(at) * 1_000_000 + capture.readUInt32BE(at + 4);
    packets.push({ atMicros, octets: capture.subarray(at, end) });
    at = end;
  }
  return packets;
}
