import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { compressed } from './compressed.js';
import { KeptDocument } from './kept-document.js';

const TEXT = 'A guide. '.repeat(200);
const document = new KeptDocument(TEXT);
const DECODED = { br: brotliDecompressSync, gzip: gunzipSync, identity: (octets: Buffer) => octets } as const;
const CODINGS = ['br', 'gzip', 'identity'] as const;

describe('a document', () => {
  afterEach(() => vi.useRealTimers());

  it.each(CODINGS)('is sent as %s when that is accepted', async (coding) => {
    const { status, headers, body = Buffer.alloc(0) } = await document.answerTo({ 'accept-encoding': coding });
    expect([status, headers['vary'], headers['content-encoding'] ?? 'identity']).toEqual([
      200,
      'Accept-Encoding',
      coding,
    ]);
    expect(DECODED[coding](body).toString()).toBe(TEXT);
    expect(body.length < TEXT.length).toBe(coding !== 'identity');
  });

  it('is compressed once', async () => {
    const bodies = await Promise.all(['br', 'br'].map((coding) => document.answerTo({ 'accept-encoding': coding })));
    expect(bodies[0]?.body).toBe(bodies[1]?.body);
  });

  it('is sent as it is to readers for whom the compression takes long, and compressed afterwards', async () => {
    vi.useFakeTimers();
    let finish = (_: Buffer): void => undefined;
    const slow = new KeptDocument(TEXT, () => new Promise((resolve) => (finish = resolve)));
    const first = slow.answerTo({ 'accept-encoding': 'br' });
    await vi.advanceTimersByTimeAsync(500);
    const { status, headers, body } = await first;
    expect([status, headers['content-encoding'], body?.toString()]).toEqual([200, undefined, TEXT]);
    const tag = headers['etag'];
    finish(Buffer.from('compressed'));
    const { headers: later } = await slow.answerTo({ 'accept-encoding': 'br' });
    expect(later['content-encoding']).toBe('br');
    expect(later['etag']).not.toBe(tag);
  });

  it('is compressed again at the next request after a failure', async () => {
    let failures = 1;
    const failing = new KeptDocument(TEXT, (octets, coding) =>
      failures-- > 0 ? Promise.reject(new Error('out of memory')) : compressed(octets, coding),
    );
    await expect(failing.answerTo({ 'accept-encoding': 'br' })).rejects.toThrow('out of memory');
    const { body = Buffer.alloc(0) } = await failing.answerTo({ 'accept-encoding': 'br' });
    expect(brotliDecompressSync(body).toString()).toBe(TEXT);
  });

  it('has a tag for each coding, which another document has not', async () => {
    const tags = await Promise.all(
      [document, new KeptDocument(`${TEXT}.`)].flatMap((each) =>
        CODINGS.map(async (coding) => (await each.answerTo({ 'accept-encoding': coding })).headers['etag']),
      ),
    );
    expect(new Set(tags).size).toBe(6);
    const again = await new KeptDocument(TEXT).answerTo({ 'accept-encoding': 'br' });
    expect(again.headers['etag']).toBe(tags[0]);
  });

  it('is not sent to a reader who names the tag of that coding', async () => {
    const { headers } = await document.answerTo({ 'accept-encoding': 'gzip' });
    const asked = { 'accept-encoding': 'gzip', 'if-none-match': headers['etag'] };
    expect(await document.answerTo({ ...asked, 'if-none-match': `"other", W/${headers['etag'] ?? ''}` })).toEqual({
      status: 304,
      headers: { etag: headers['etag'], vary: 'Accept-Encoding' },
      body: undefined,
    });
    expect((await document.answerTo({ ...asked, 'accept-encoding': 'br' })).status).toBe(200);
    expect((await document.answerTo({ ...asked, 'if-none-match': '"other"' })).status).toBe(200);
  });
});
