import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Framer } from './framer.js';
import { enquireLink, message } from './octets.fixture.js';

const LIMIT = 70_000;

function framesOf(framer: Framer, chunks: readonly Buffer[]): { frames: Buffer[]; lost: boolean } {
  const frames: Buffer[] = [];
  for (const chunk of chunks) {
    framer.push(chunk);
    for (;;) {
      const outcome = framer.next();
      if (outcome === 'lost') return { frames, lost: true };
      if (outcome === 'more') break;
      frames.push(Buffer.from(framer.octets.subarray(framer.start, framer.end)));
    }
  }
  return { frames, lost: false };
}
const headed = (length: number): Buffer => {
  const octets = Buffer.alloc(16);
  octets.writeUInt32BE(length, 0);
  return octets;
};

describe('the framer', () => {
  const pdus = [enquireLink(1), message(), enquireLink(2), message({ text: Buffer.from([3, 65, 66, 67]) })];
  const stream = Buffer.concat(pdus);

  it('finds the same PDUs however the stream is segmented', () => {
    const cuts = fc.array(fc.integer({ min: 0, max: stream.length }), { maxLength: 20 });
    fc.assert(
      fc.property(cuts, (at) => {
        const edges = [0, ...at.sort((a, b) => a - b), stream.length];
        const chunks = edges.slice(1).map((end, i) => stream.subarray(edges[i], end));
        expect(framesOf(new Framer(LIMIT), chunks)).toEqual({ frames: pdus, lost: false });
      }),
    );
  });

  it('finds them octet by octet, and reports an incomplete PDU', () => {
    const framer = new Framer(LIMIT);
    const partial = [...stream].map((octet) => {
      framesOf(framer, [Buffer.from([octet])]);
      return framer.isPartial;
    });
    expect(partial.filter((inside) => !inside)).toHaveLength(pdus.length);
    expect(framer.isPartial).toBe(false);
  });

  it('does not copy a PDU received in one read', () => {
    const framer = new Framer(LIMIT);
    framer.push(stream);
    framer.next();
    framer.next();
    expect(framer.octets.buffer).toBe(stream.buffer);
  });

  it.each([0, 1, 4, 8, 15, LIMIT + 1, 0x7fff_ffff, 0xffff_ffff])('is lost at a command_length of %i', (length) => {
    expect(framesOf(new Framer(LIMIT), [headed(length)]).lost).toBe(true);
    const octets = [...headed(length)].map((octet) => Buffer.from([octet]));
    expect(framesOf(new Framer(LIMIT), octets).lost).toBe(true);
  });

  it('accepts exactly the limit, and a raised limit at once', () => {
    const framer = new Framer(1_000);
    expect(framesOf(framer, [headed(1_000), Buffer.alloc(984)]).frames[0]).toHaveLength(1_000);
    framer.limit = LIMIT;
    expect(framesOf(framer, [headed(LIMIT), Buffer.alloc(LIMIT - 16)]).frames[0]).toHaveLength(LIMIT);
  });

  it('releases the read buffer when it is consumed', () => {
    const framer = new Framer(LIMIT);
    framesOf(framer, [stream]);
    expect(framer.octets).toHaveLength(0);
  });
});
