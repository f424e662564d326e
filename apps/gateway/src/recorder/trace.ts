import type { TraceAnswer, TracedPdu } from '@countersign/carriers/traces';
import { pcapOf, redactPdu, type Conversation, type Endpoint } from '@countersign/smpp/capture';
import { decodePdu, LIMITS_OF_50 } from '@countersign/smpp/codec';
import { statusName } from '@countersign/smpp/pdu';
import type { RecordedConnection } from './flight-recorder.js';
import type { LinkEnds, RecordedPdu } from './pdu-ring.js';

const STATUS_AT = 8;
const SEQUENCE_AT = 12;
const HEADER_OCTETS = 16;
/** Upper bound of the octets that a capture file adds per PDU. */
const PACKET_OCTETS = 128;

const endpointText = ({ address, port }: Endpoint): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
const unmasked = (address: string): string => address;

/** A recorded PDU with decoded fields. Texts appear as lengths; recorded texts are in `octets`. */
export function tracedPdu({ atMs, direction, octets, ends }: RecordedPdu): TracedPdu {
  const pdu = decodePdu(octets, 0, octets.length, LIMITS_OF_50);
  const about = {
    at: new Date(atMs).toISOString(),
    direction,
    local: endpointText(ends.local),
    remote: endpointText(ends.remote),
    octets: octets.toString('hex'),
  };
  if (pdu.command === 'malformed') {
    const status = octets.length < HEADER_OCTETS ? 0 : octets.readUInt32BE(STATUS_AT);
    const sequence = octets.length < HEADER_OCTETS ? 0 : octets.readUInt32BE(SEQUENCE_AT);
    const { of: command, reason: fault } = pdu;
    return { ...about, command, status: statusName(status), sequence, fields: {}, tlvs: {}, fault };
  }
  const { command, status, sequence } = pdu;
  const { command: _command, status: _status, sequence: _sequence, tlvs, ...fields } = redactPdu(pdu, unmasked);
  const shownTlvs = typeof tlvs === 'object' && tlvs !== null ? tlvs : {};
  return { ...about, command, status: statusName(status), sequence, fields, tlvs: shownTlvs, fault: null };
}

/** The records as JSON of at most `maxOctets`: of each connection, the newest PDUs that fit its share. */
export function traceAnswer(connections: readonly RecordedConnection[], maxOctets: number): TraceAnswer {
  const share = Math.floor(maxOctets / Math.max(1, connections.length));
  return {
    connections: connections.map(({ slot, pdus }) => ({
      slot,
      pdus: newest(pdus, share, tracedPdu, (pdu) => JSON.stringify(pdu).length + 1),
    })),
  };
}

/** The same as a capture file. */
export function traceCapture(connections: readonly RecordedConnection[], maxOctets: number): Buffer {
  const share = Math.floor(maxOctets / Math.max(1, connections.length));
  return pcapOf(
    connections.flatMap(({ pdus }) =>
      conversations(newest(pdus, share, asIs, ({ octets }) => octets.length + PACKET_OCTETS)),
    ),
  );
}

/** The links of a connection, in order. */
function conversations(pdus: readonly RecordedPdu[]): Conversation[] {
  const byLink = new Map<LinkEnds, RecordedPdu[]>();
  for (const pdu of pdus) {
    const ofLink = byLink.get(pdu.ends);
    if (ofLink === undefined) byLink.set(pdu.ends, [pdu]);
    else ofLink.push(pdu);
  }
  return [...byLink].map(([ends, ofLink]) => ({ ...ends, pdus: ofLink }));
}

const asIs = (pdu: RecordedPdu): RecordedPdu => pdu;

/** The last PDUs that fit, in order. */
function newest<T>(
  pdus: readonly RecordedPdu[],
  maxOctets: number,
  made: (pdu: RecordedPdu) => T,
  octetsOf: (made: T) => number,
): readonly T[] {
  const kept: T[] = [];
  let left = maxOctets;
  for (const pdu of pdus.toReversed()) {
    const next = made(pdu);
    left -= octetsOf(next);
    if (left < 0) break;
    kept.push(next);
  }
  return kept.reverse();
}
