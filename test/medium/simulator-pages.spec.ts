import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../apps/simulator/src/phone/phone-item.js';
import { openRbmEmulator, type RbmEmulator } from '../support/rbm-emulator.js';
import { until } from '../support/until.js';

const SOON_MS = 10_000;
const PHONE = '+14155552671';
const OTHER = '+14155552672';

let emulator: RbmEmulator;

beforeAll(async () => {
  emulator = await openRbmEmulator();
});
afterAll(() => emulator.close());

/** A page that listens to the feed. */
class Page {
  readonly events: FeedEvent[] = [];
  readonly #stop = new AbortController();

  static async open(query: string): Promise<Page> {
    const page = new Page();
    const { body, headers } = await request(`${emulator.url}/phone/feed?${query}`, { signal: page.#stop.signal });
    expect(headers['content-type']).toContain('text/event-stream');
    let text = '';
    body.setEncoding('utf8').on('data', (part: string) => {
      const blocks = `${text}${part}`.split('\n\n');
      text = blocks.pop() ?? '';
      page.events.push(...blocks.flatMap(read));
    });
    body.on('error', () => undefined);
    await page.sees(1);
    return page;
  }

  sees(count: number): Promise<void> {
    return until(`${count} events`, SOON_MS, () => this.events.length >= count);
  }

  close(): void {
    this.#stop.abort();
  }
}

function read(block: string): FeedEvent[] {
  const [, event, data] = /^event: (.+)\ndata: (.+)$/.exec(block) ?? [];
  return event === undefined || data === undefined ? [] : [{ event, data: JSON.parse(data) as never } as FeedEvent];
}

describe('the feed of a phone', () => {
  it('begins with how it stands, and then tells its switches and what is written on it', async () => {
    const page = await Page.open(`phone=${encodeURIComponent(PHONE)}`);
    expect(page.events[0]).toMatchObject({
      event: 'snapshot',
      data: { phones: [{ phone: PHONE, reachable: false, online: true }], items: [] },
    });
    await emulator.admin('PUT', `/_admin/phones/${OTHER}`, { reachable: true });
    await emulator.admin('PUT', `/_admin/phones/${PHONE}`, { reachable: true });
    await page.sees(2);
    expect(page.events[1]).toMatchObject({ event: 'phone', data: { phone: PHONE, reachable: true } });
    await emulator.admin('POST', '/_admin/replies', {
      phone: PHONE,
      agentId: 'countersign_demo',
      text: 'hello\n\nevent: x',
    });
    await page.sees(3);
    expect(page.events[2]).toMatchObject({
      event: 'item',
      data: { kind: 'reply', phone: PHONE, agent: { name: 'Acme', verified: true }, text: 'hello\n\nevent: x' },
    });
    page.close();
  });

  it('shows an SMS that the service did not take, too', async () => {
    const page = await Page.open(`phone=${encodeURIComponent(OTHER)}`);
    const sms = { from: OTHER, to: '+14155550199', text: 'AUTH-ACME-0123456789ABCDEF' };
    expect((await emulator.admin('POST', '/_admin/sms', sms)).status).toBe(503);
    await page.sees(2);
    expect(page.events[1]).toMatchObject({
      event: 'item',
      data: { kind: 'sms', direction: 'out', peer: '+14155550199', commandStatus: null },
    });
    page.close();
  });

  it('is of several numbers at once, and what has happened is told to a page that comes later', async () => {
    await emulator.admin('POST', '/_admin/replies', { phone: PHONE, agentId: 'x', text: 'before' });
    const page = await Page.open(`phone=+${PHONE.slice(1)}&phone=${encodeURIComponent(OTHER)}`);
    const [snapshot] = page.events;
    expect(snapshot?.event).toBe('snapshot');
    if (snapshot?.event !== 'snapshot') return;
    expect(snapshot.data.phones.map(({ phone }) => phone)).toEqual([PHONE, OTHER]);
    expect(snapshot.data.items.at(-1)).toMatchObject({ kind: 'reply', text: 'before' });
    page.close();
  });

  it.each(['', 'phone=', 'phone=1', 'phone[]=%2B14155552671', `phone=${'%2B14155552671&phone='.repeat(25)}`])(
    'is refused for %j',
    async (query) => {
      const { statusCode, body } = await request(`${emulator.url}/phone/feed?${query}`);
      await body.dump();
      expect(statusCode).toBe(422);
    },
  );
});

describe('the pages', () => {
  it.each(['/phone/', '/demo/'])('%s is served under a policy that lets nothing in line run', async (pathname) => {
    const { statusCode, headers, body } = await request(`${emulator.url}${pathname}`);
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toContain('text/html');
    expect(headers['content-security-policy']).toContain("script-src 'self';");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(await body.text()).not.toMatch(/<script(?![^>]*\bsrc=)|\son[a-z]+=|\sstyle=/i);
  });

  it.each(['/phone/', '/demo/', '/demo/shop.css', '/demo/shop.mjs', '/demo/cup.svg'])(
    '%s is compressed as the browser accepts, and not sent again to one that has it',
    async (pathname) => {
      const read = async (headers: Readonly<Record<string, string>>) => {
        const answer = await request(`${emulator.url}${pathname}`, { headers });
        return { ...answer, octets: Buffer.from(await answer.body.arrayBuffer()) };
      };
      const whole = await read({});
      expect([whole.headers['vary'], whole.headers['content-encoding']]).toEqual(['Accept-Encoding', undefined]);
      for (const [coding, decode] of [
        ['br', brotliDecompressSync],
        ['gzip', gunzipSync],
      ] as const) {
        const { headers, octets } = await read({ 'accept-encoding': coding });
        expect([headers['content-encoding'], headers['vary']]).toEqual([coding, 'Accept-Encoding']);
        expect([headers['content-length'], headers['x-content-type-options']]).toEqual([
          String(octets.length),
          'nosniff',
        ]);
        expect(decode(octets).equals(whole.octets)).toBe(true);
        const again = await read({ 'accept-encoding': coding, 'if-none-match': String(headers['etag']) });
        expect([again.statusCode, again.octets.length, again.headers['etag']]).toEqual([304, 0, headers['etag']]);
        expect([again.headers['vary'], again.headers['x-content-type-options']]).toEqual([
          'Accept-Encoding',
          'nosniff',
        ]);
      }
    },
  );

  it('alone are compressed: answers of the control surface are not', async () => {
    const { statusCode, headers, body } = await request(
      `${emulator.url}/_admin/sms?phone=${encodeURIComponent(PHONE)}`,
      {
        headers: { 'accept-encoding': 'br, gzip' },
      },
    );
    await body.dump();
    expect([statusCode, headers['content-encoding'], headers['x-content-type-options']]).toEqual([
      200,
      undefined,
      'nosniff',
    ]);
  });

  it.each([
    ['two Hosts', 'Host: 127.0.0.1\r\nHost: localhost\r\n', '400 Bad Request'],
    [
      'two Authorizations',
      'Host: 127.0.0.1\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n',
      '400 Bad Request',
    ],
    ['an upgrade to h2c', 'Host: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n', '200 OK'],
  ] as const)('and all else of this server: with %s a request is answered', async (_what, headers, status) => {
    for (const target of ['/phone/', '/_admin/sms?phone=%2B14155552671']) {
      const socket = connect(Number(new URL(emulator.url).port), '127.0.0.1');
      let text = '';
      socket.on('data', (data: Buffer) => (text += data.toString('latin1'))).on('error', () => undefined);
      socket.write(`GET ${target} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
      await once(socket, 'close');
      expect([target, /^HTTP\/1\.1 ([^\r]*)/.exec(text)?.[1]]).toEqual([target, status]);
      expect(text).toContain('x-content-type-options: nosniff');
    }
  });

  it.each(['/phone', '/demo'])('%s leads to its page', async (pathname) => {
    const { statusCode, headers, body } = await request(`${emulator.url}${pathname}`);
    await body.dump();
    expect(statusCode).toBe(301);
    expect(String(headers['location'])).toMatch(/\/$/);
  });

  it.each(['/phone/..%2f..%2fmain.ts', '/phone/threads.d.mts.map', '/sdk/index.ts', '/phone/%00'])(
    '%s is not served',
    async (pathname) => {
      const { statusCode, body } = await request(`${emulator.url}${pathname}`);
      await body.dump();
      expect([400, 403, 404]).toContain(statusCode);
    },
  );
});
