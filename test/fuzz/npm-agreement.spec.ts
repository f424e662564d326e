import { decodePdu, LIMITS_OF_50 } from '@countersign/smpp/codec';
import type { Pdu } from '@countersign/smpp/pdu';
import { beforeAll, describe, expect, it } from 'vitest';
import { CORPUS } from './corpus.js';
import { FUZZ_CASES, FUZZ_SEED, reportSeed } from './fuzz-run.js';
import { Random } from '../support/random.js';
import { framedMutant } from './mutator.js';
import { fieldDifferences, hasMisreadTlv, readByNpm, takeFiltersOff, tlvDifferences } from './npm-decoder.js';

beforeAll(takeFiltersOff);

const PDUS = CORPUS.map(({ octets }) => octets);
const HEADER_OCTETS = 16;
const RESPONSE_BIT = 0x8000_0000;
/** npm smpp reads no PDU above this size. */
const THEIR_LIMIT_OCTETS = 16_384;

const sameHeader = (ours: Pdu, theirs: NonNullable<ReturnType<typeof readByNpm>>): boolean =>
  ours.command === theirs.command && ours.status === theirs.command_status && ours.sequence === theirs.sequence_number;

/** A response without a body, or a refusal whose body cannot be read: only its header is compared. */
const saysNothing = (ours: Pdu, octets: Buffer): boolean =>
  octets.length === HEADER_OCTETS || (octets.readUInt32BE(4) >= RESPONSE_BIT && ours.status !== 0);

/**
 * Known errors of npm smpp, which are excluded:
 * - a PDU that we refuse: it takes cut fields (as undefined), strings beyond their limit, integer TLVs of any length,
 *   TLVs past the end of the PDU and octets behind them, reserved types and values;
 * - a C-octet TLV without its NUL: it reads on into the next TLV;
 * - an integer TLV of a length that it has wrong (an alert without a value, a telematics id of one octet, a country);
 * - an eighth bit of a string: it drops it;
 * - several TLVs of one tag: it keeps the last;
 * - texts, times, and lists: its filters, which are removed here;
 * - a response without a body: its fields are undefined there, and empty here.
 */
describe('npm smpp', () => {
  it('reads every field and TLV of the corpus as we do', () => {
    for (const { octets, writer } of CORPUS) {
      const ours = decodePdu(octets);
      const theirs = readByNpm(octets);
      if (ours.command === 'malformed' || saysNothing(ours, octets)) continue;
      expect(theirs, writer).not.toBe(null);
      if (theirs === null) continue;
      expect(sameHeader(ours, theirs)).toBe(true);
      expect([...fieldDifferences(ours, { ...theirs }), ...tlvDifferences(ours, { ...theirs })]).toEqual([]);
    }
  });

  it('is heard where it disagrees', () => {
    const [first, second] = CORPUS.filter(({ octets }) => octets.readUInt32BE(4) === 4);
    const ours = first === undefined ? null : decodePdu(first.octets);
    const theirs = second === undefined ? null : readByNpm(second.octets);
    if (ours === null || ours.command === 'malformed') throw new Error('no submit_sm in the corpus');
    expect(fieldDifferences(ours, { ...theirs })).not.toEqual([]);
  });

  it('reads every mutant that we read as we do, and knows no command that we take for unknown', () => {
    reportSeed('npm smpp');
    const random = new Random(FUZZ_SEED);
    let compared = 0;
    for (let i = 0; i < FUZZ_CASES; i++) {
      const octets = framedMutant(PDUS, random);
      const ours = decodePdu(octets, 0, octets.length, LIMITS_OF_50);
      const theirs = readByNpm(octets);
      if (ours.command === 'malformed') {
        if (ours.of === null && theirs !== null) expect(theirs.command, octets.toString('hex')).toBe('unknown');
        continue;
      }
      if (octets.length > THEIR_LIMIT_OCTETS || saysNothing(ours, octets)) continue;
      if (theirs === null && hasMisreadTlv(ours)) continue;
      if (theirs === null) throw new Error(`npm smpp throws on ${octets.toString('hex')}`);
      const differences = [...fieldDifferences(ours, { ...theirs }), ...tlvDifferences(ours, { ...theirs })];
      if (differences.length > 0) throw new Error(`${octets.toString('hex')}: ${differences.join('; ')}`);
      if (!sameHeader(ours, theirs)) throw new Error(`another header: ${octets.toString('hex')}`);
      compared++;
    }
    expect(compared).toBeGreaterThan(FUZZ_CASES / 10);
  });
});
