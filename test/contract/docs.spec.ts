import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, ControlPlaneHarness } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

let harness: ControlPlaneHarness;
/** Every page that is linked from the first, directly or not, by its address. */
const pages = new Map<string, Answer>();

const hrefs = (html: string): string[] => [...html.matchAll(/ href="([^"]+)"/g)].map(([, href = '']) => href);
const within = (html: string): string[] => hrefs(html).filter((href) => href.startsWith('/docs'));
const pathOf = (href: string): string => href.split('#')[0] ?? '';

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  const open = ['/docs'];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (pages.has(path)) continue;
    const page = await harness.call(path, { key: null });
    pages.set(path, page);
    open.push(...within(page.text).map(pathOf));
  }
});
afterAll(() => harness.close());

describe('the pages under /docs', () => {
  it('are public HTML that may be cached', () => {
    for (const [path, { status, headers }] of pages) {
      expect([path, status, headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8']);
      expect(headers['cache-control']).toBe('public, max-age=300');
    }
  });

  it.each([
    '/docs/a-carrier-calls',
    '/docs/carrier-requirements',
    '/docs/carrier-requirements/india-dlt',
    '/docs/account',
    '/docs/admin-keys',
    '/docs/keys',
    '/docs/api',
    '/docs/api/verifications',
    '/docs/browser-binding',
    '/docs/codes',
    '/docs/errors',
    '/docs/guard',
    '/docs/idempotency',
    '/docs/limits',
    '/docs/messages',
    '/docs/realtime',
    '/docs/sdk',
    '/docs/specification',
    '/docs/test-keys',
    '/docs/versions',
    '/docs/webhook-receivers',
    '/docs/webhooks',
    '/docs/what-is-proven',
  ])('can be found from the first: %s', (path) => {
    expect(pages.get(path)?.text).toContain(' aria-current="page"');
  });

  it('have no broken links', () => {
    for (const [from, { text }] of pages) {
      for (const href of within(text)) {
        const [path = '', anchor] = href.split('#');
        if (anchor !== undefined)
          expect([from, href, pages.get(path)?.text.includes(` id="${anchor}"`)]).toEqual([from, href, true]);
      }
      for (const href of hrefs(text))
        expect(href).toMatch(/^(https:\/\/|\/docs|\/v1\/(?:open|async)api\.json$|#main$|data:,$)/);
    }
  });

  it('run no script, load nothing, and may not be framed', () => {
    for (const { text, headers } of pages.values()) {
      expect(text).not.toMatch(/<script|<iframe| on[a-z]+=| style=| src=|@import|url\(/);
      const policy = String(headers['content-security-policy']);
      expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; /);
      expect(policy).toContain("frame-ancestors 'none'");
    }
  });

  it('have one first heading each, and none that jumps a rank', () => {
    for (const [path, { text }] of pages) {
      const ranks = [...text.slice(text.indexOf('<main')).matchAll(/<h([1-6])/g)].map(([, rank]) => Number(rank));
      const jumps = ranks.filter((rank, at) => rank > (ranks[at - 1] ?? 0) + 1);
      expect([path, ranks.filter((rank) => rank === 1).length, jumps]).toEqual([path, 1, []]);
    }
  });

  it('name this service by its own address', () => {
    expect(pages.get('/docs')?.text).toContain(`curl --cacert ca.pem ${harness.baseUrl}/v1/verify`);
    for (const { text } of pages.values()) expect(text).not.toContain('{{');
  });

  it.each(['/docs/nothing', '/docs/toString', '/docs/api/nothing', '/docs/errors/not_found', '/docs/errors/__proto__'])(
    'do not have %s',
    async (path) => {
      const answer = await harness.call(path, { key: null });
      expect([answer.status, answer.code]).toEqual([404, 'NOT_FOUND']);
    },
  );
});

describe('the pages and the descriptions of the API', () => {
  const all = (): string[] => [...pages.keys(), '/v1/openapi.json', '/v1/asyncapi.json'];
  const read = (path: string, headers: Readonly<Record<string, string>>): Promise<Answer> =>
    harness.call(path, { key: null, headers });

  /** A document is compressed when a reader first asks for it; a busy machine answers without a coding meanwhile. */
  async function readOnceCompressed(path: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    let answer = await read(path, headers);
    await until(`${path} is compressed`, 30_000, async () => {
      if (answer.headers['content-encoding'] === undefined) answer = await read(path, headers);
      return answer.headers['content-encoding'] !== undefined;
    });
    return answer;
  }

  it('are compressed as the reader accepts, which caches know of', async () => {
    for (const path of all()) {
      const whole = await read(path, {});
      expect([path, whole.headers['content-encoding'], whole.headers['vary']]).toEqual([
        path,
        undefined,
        'Accept-Encoding',
      ]);
      for (const coding of ['br', 'gzip']) {
        const { headers, octets, text } = await readOnceCompressed(path, { 'accept-encoding': `${coding}, deflate` });
        expect([path, headers['content-encoding'], headers['vary']]).toEqual([path, coding, 'Accept-Encoding']);
        expect(headers['content-length']).toBe(String(octets.length));
        expect(text).toBe(whole.text);
        expect([path, octets.length < whole.octets.length]).toEqual([path, true]);
      }
    }
  });

  it('are not sent again to a reader who has them', async () => {
    for (const path of all()) {
      const accepted = { 'accept-encoding': 'gzip' };
      const { headers, octets } = await read(path, accepted);
      const unchanged = await read(path, { ...accepted, 'if-none-match': String(headers['etag']) });
      expect([path, unchanged.status, unchanged.octets.length]).toEqual([path, 304, 0]);
      for (const name of ['etag', 'vary', 'cache-control', 'x-content-type-options', 'strict-transport-security']) {
        expect([path, name, unchanged.headers[name]]).toEqual([path, name, headers[name] ?? 'missing']);
      }
      const other = await read(path, { ...accepted, 'if-none-match': '"another"' });
      expect([path, other.status, other.octets.equals(octets)]).toEqual([path, 200, true]);
    }
  });

  it('show their headers to a HEAD', async () => {
    const call = { key: null, headers: { 'accept-encoding': 'br' } };
    const { status, headers, octets } = await harness.call('/v1/openapi.json', { ...call, method: 'HEAD' });
    const got = await harness.call('/v1/openapi.json', call);
    expect([status, octets.length, headers['etag']]).toEqual([200, 0, got.headers['etag']]);
    expect(headers['content-length']).toBe(String(got.octets.length));
  });

  it('are the only answers that are compressed: the size of another would reveal its content', async () => {
    const { headers, status } = await harness.create({}, { headers: { 'accept-encoding': 'br, gzip' } });
    expect([status, headers['content-encoding'], headers['etag']]).toEqual([200, undefined, undefined]);
    const listed = await harness.call('/v1/verify', { headers: { 'accept-encoding': 'br, gzip' } });
    expect([listed.status, listed.headers['content-encoding']]).toEqual([200, undefined]);
  });
});

describe('the API reference', () => {
  it('covers every call of the document', async () => {
    const { json } = await harness.call('/v1/openapi.json', { key: null });
    const calls = Object.values(json['paths'] ?? {}).flatMap((item: object) => Object.values(item) as object[]);
    const all = [...pages].filter(([path]) => path.startsWith('/docs/api/')).map(([, { text }]) => text);
    for (const call of calls) {
      const id = String(Reflect.get(call, 'operationId'));
      expect([id, all.some((text) => text.includes(`<h2 id="${id}">`))]).toEqual([id, true]);
    }
  });
});

describe('a page of the specification', () => {
  it('is there with all of its sections', () => {
    const text = pages.get('/docs/specification')?.text ?? '';
    for (const section of ['1. What the service does', '4.7 Browser-binding pattern', '9. Versioning']) {
      expect(text).toContain(section);
    }
  });
});

describe('the page for engineers on call', () => {
  it('shows only calls of the API', async () => {
    const { json } = await harness.call('/v1/openapi.json', { key: null });
    const known = Object.entries(json['paths'] ?? {}).flatMap(([path, item]) =>
      Object.keys(Object(item) as object).map(
        (method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '*')}`,
      ),
    );
    const text = pages.get('/docs/a-carrier-calls')?.text ?? '';
    const shown = text.split('\n').flatMap((line) => {
      const path = /curl &quot;\$API(\/[^&?]+)/.exec(line)?.[1];
      const method = / -X (\w+)/.exec(line)?.[1] ?? 'GET';
      return path === undefined
        ? []
        : [`${method} /v1/admin${path.replace(/\/(?:outbound|cards)/, '/*').replaceAll(/\$\w+/g, '*')}`];
    });
    expect(shown.length).toBeGreaterThan(15);
    for (const call of shown) expect(known).toContain(call);
  });
});
