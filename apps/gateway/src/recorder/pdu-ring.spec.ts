import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PduRing, RING_OCTETS, RING_PDUS, type RecordedPdu } from './pdu-ring.js';

const STATUS_BY_TERMINAL_EVENT = {
  local: { address: '192.0.2.1', port: 40_000 },
  remote: { address: '198.51.100.7', port: 2_775 },
};

/** An enquire_link_resp with an unknown body, which is recorded in full only with `withText`. */
function recorded(sequence: number, bodyOctets: number): RecordedPdu {
  const octets = Buffer.alloc(16 + bodyOctets, sequence % 251);
  octets.writeUInt32BE(octets.length, 0);
  octets.writeUInt32BE(0x8000_0015, 4);
  octets.writeUInt32BE(sequence, 12);
  return { atMs: sequence, direction: sequence % 2 === 0 ? 'in' : 'out', octets, ends: STATUS_BY_TERMINAL_EVENT };
}

const sequences = (ring: PduRing): number[] => ring.pdus().map(({ octets }) => octets.readUInt32BE(12));

describe('the ring of PDUs', () => {
  it('keeps the last PDUs in order, up to its number', () => {
    const ring = new PduRing();
    for (let n = 0; n < RING_PDUS + 10; n++) ring.add(recorded(n, 0), true);
    expect(sequences(ring)).toEqual(Array.from({ length: RING_PDUS }, (_, n) => n + 10));
  });

  it('keeps the last PDUs, up to its octets', () => {
    const ring = new PduRing();
    for (let n = 0; n < 20; n++) ring.add(recorded(n, 65_000), true);
    expect(sequences(ring)).toEqual([16, 17, 18, 19]);
    ring.add(recorded(20, 0), true);
    expect(sequences(ring).at(-1)).toBe(20);
  });

  it('does not keep a PDU larger than itself', () => {
    const ring = new PduRing();
    ring.add(recorded(1, 0), true);
    ring.add(recorded(2, RING_OCTETS), true);
    expect(sequences(ring)).toEqual([1]);
  });

  it('returns the exact octets of a contiguous run of the last PDUs, for any sizes', () => {
    const size = fc.oneof({ weight: 30, arbitrary: fc.nat(900) }, { weight: 1, arbitrary: fc.nat(70_000) });
    fc.assert(
      fc.property(fc.array(size, { maxLength: 700, size: 'max' }), (sizes) => {
        const ring = new PduRing();
        const all = sizes.map((octets, n) => recorded(n, octets));
        for (const pdu of all) ring.add(pdu, true);
        const kept = ring.pdus();
        const last = all.slice(all.length - kept.length);
        expect(kept.every(({ octets }, n) => last[n]?.octets.equals(octets))).toBe(true);
        expect(kept.length).toBeLessThanOrEqual(RING_PDUS);
        // At most one PDU of the largest size is lost at the wrap-around, and another to free space.
        const octets = kept.reduce((sum, { octets: { length } }) => sum + length, 0);
        if (kept.length < Math.min(all.length, RING_PDUS)) expect(octets).toBeGreaterThan(RING_OCTETS - 3 * 70_016);
      }),
      { numRuns: 30 },
    );
  });

  it('redacts new PDUs, and PDUs recorded in full once a PDU is added without text', () => {
    const ring = new PduRing();
    const text = Buffer.from('123456 is your code');
    const full = { ...recorded(1, 0), octets: Buffer.concat([Buffer.alloc(16), text]) };
    ring.add(full, true);
    expect(ring.pdus()[0]?.octets.includes('123456')).toBe(true);
    ring.add(full, false);
    for (const { octets } of ring.pdus()) expect(octets.includes('123456')).toBe(false);
  });
});
