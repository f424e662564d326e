import { redactPdu } from '@countersign/smpp/capture';
import { InvalidPduError, LIMITS_OF_34, LIMITS_OF_50, decodePdu, encodePdu } from '@countersign/smpp/codec';
import { concatenationOf, messageKind, messageOctets, parseReceipt } from '@countersign/smpp/messages';
import type { MalformedPdu, MessagePdu, Pdu } from '@countersign/smpp/pdu';
import { decodeText } from '@countersign/text';
import { describe, expect, it } from 'vitest';
import { CORPUS } from './corpus.js';
import { FUZZ_CASES, FUZZ_SEED, heapInUse, reportSeed } from './fuzz-run.js';
import { Random } from '../support/random.js';
import { framedMutant } from './mutator.js';

const PDUS = CORPUS.map(({ octets }) => octets);
const HEADER_OCTETS = 16;
const RESPONSE_BIT = 0x8000_0000;
/** Heap growth after a run that counts as a leak, in octets. */
const HEAP_ALLOWANCE = 8 * 1024 * 1024;

const isMessage = (pdu: Pdu): pdu is MessagePdu => ['submit_sm', 'deliver_sm', 'data_sm'].includes(pdu.command);

/** Reads everything that the product reads of a message, in every alphabet. */
function readAll(pdu: MessagePdu): void {
  const { octets, udh } = messageOctets(pdu);
  for (const alphabet of ['gsm', 'gsm-packed', 'latin1', 'ascii'] as const) {
    decodeText(octets, pdu.fields.dataCoding, alphabet, udh?.fillBits);
  }
  concatenationOf(pdu);
  messageKind(pdu);
  parseReceipt(pdu);
}

/** A decoded PDU can be encoded, and the result decodes to the same values. Returns its length in octets. */
function writeAgain(pdu: Pdu, octets: Buffer): number {
  let written: Buffer;
  try {
    written = encodePdu(pdu);
  } catch (error) {
    if (error instanceof InvalidPduError && octets.length > 70_000) return octets.length;
    throw error;
  }
  // A refusal is encoded as a bare header (SMPP 3.4 section 4.4.2).
  if (pdu.status === 0) expect(decodePdu(written, 0, written.length, LIMITS_OF_50)).toEqual(pdu);
  return written.length;
}

function checkMalformed(malformed: MalformedPdu, octets: Buffer): void {
  if (malformed.status === 0) throw new Error('a malformed PDU without a status to answer');
  if (malformed.commandId !== octets.readUInt32BE(4)) throw new Error('another command_id than the one that came');
  if (malformed.reason === '') throw new Error('a malformed PDU without a reason');
}

describe('the decoder', () => {
  it('reads every PDU of the corpus that it speaks, whoever wrote it', () => {
    const unread = CORPUS.filter(({ octets }) => decodePdu(octets).command === 'malformed');
    // submit_multi is refused by its command_id.
    const commands = unread.map(({ octets }) => octets.readUInt32BE(4));
    expect([...new Set(commands)].sort((a, b) => a - b)).toEqual([0x21]);
    expect(new Set(CORPUS.map(({ writer }) => writer))).toEqual(new Set(['smpp-0.5.1', 'net-smpp', 'kannel']));
  });

  it('throws on no mutant, keeps its header, and what it read can be written and used', () => {
    reportSeed('decoder');
    const random = new Random(FUZZ_SEED);
    let read = 0;
    let before = 0;
    for (let i = 0; i < FUZZ_CASES; i++) {
      if (i === Math.floor(FUZZ_CASES / 10)) before = heapInUse();
      const octets = framedMutant(PDUS, random);
      const pdu = decodePdu(octets, 0, octets.length, i % 2 === 0 ? LIMITS_OF_34 : LIMITS_OF_50);
      if (pdu.sequence !== octets.readUInt32BE(12)) throw new Error(`case ${i}: the sequence number is lost`);
      if (pdu.command === 'malformed') {
        checkMalformed(pdu, octets);
        continue;
      }
      read++;
      redactPdu(pdu);
      if (isMessage(pdu)) readAll(pdu);
      // One octet short, it is another PDU, except for the body of a refusal, a bare header and NUL octets at its end.
      if (writeAgain(pdu, octets) < octets.length || octets.length === HEADER_OCTETS) continue;
      const short = decodePdu(octets, 0, octets.length - 1);
      if (short.command !== 'malformed' && octets.readUInt32BE(4) < RESPONSE_BIT) expect(short).not.toEqual(pdu);
    }
    expect(read).toBeGreaterThan(FUZZ_CASES / 10);
    expect(heapInUse() - before).toBeLessThan(HEAP_ALLOWANCE);
  });
});
