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
