import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyFragmented, BodyReadEvicted, BodyReads, BodyTooLarge } from './body-reads.js';

const MAX = 1_000;

function bodyOf(...pieces: readonly Buffer[]): PassThrough {
  const stream = new PassThrough();
  for (const piece of pieces) stream.write(piece);
  stream.end();
  return stream;
}

describe('reading a body', () => {
  it('returns the octets, however they are split', async () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(pieces, async (each) => {
        const whole = Buffer.concat(each);
        const read = new BodyReads(1).read(bodyOf(...each.map((piece) => Buffer.from(piece))), MAX);
        if (whole.length > MAX) await expect(read).rejects.toBeInstanceOf(BodyTooLarge);
        else expect(await read).toEqual(whole);
      }),
    );
  });

  it('refuses a body at the octet that exceeds the limit, not at its end', async () => {
    const endless = new PassThrough();
    const read = new BodyReads(1).read(endless, MAX);
    endless.write(Buffer.alloc(MAX));
    endless.write(Buffer.alloc(1));
    await expect(read).rejects.toBeInstanceOf(BodyTooLarge);
  });

  it('refuses a body in tiny chunks before its end', async () => {
    const dripping = new PassThrough();
    const read = new BodyReads(1).read(dripping, MAX);
    for (let nth = 0; nth < 200; nth += 1) dripping.write('x');
    await expect(read).rejects.toBeInstanceOf(BodyFragmented);
  });

  it('evicts the oldest read for one beyond the limit', async () => {
    const reads = new BodyReads(2);
    const [oldest, older] = [reads.read(new PassThrough(), MAX), reads.read(new PassThrough(), MAX)];
    const isEvicted = expect(oldest).rejects.toBeInstanceOf(BodyReadEvicted);
    expect(await reads.read(bodyOf(Buffer.from('a')), MAX)).toEqual(Buffer.from('a'));
    await isEvicted;
    expect(reads.inFlight).toBe(1);
    const isEvictedToo = expect(older).rejects.toBeInstanceOf(BodyReadEvicted);
    void reads.read(new PassThrough(), MAX).catch(() => undefined);
    expect(await reads.read(bodyOf(Buffer.from('b')), MAX)).toEqual(Buffer.from('b'));
    await isEvictedToo;
  });

  it('rejects when the connection ends', async () => {
    const reads = new BodyReads(1);
    const stream = new PassThrough();
    const read = expect(reads.read(stream, MAX)).rejects.toThrow('ended before');
    stream.destroy();
    await read;
    expect(reads.inFlight).toBe(0);
  });
});
