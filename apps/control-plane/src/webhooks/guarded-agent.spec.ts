import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { request } from 'undici';
import { guardedAgent, TargetRefused } from './guarded-agent.js';
import type { LookupAll } from './name-lookup.js';
import { TargetRules } from '../targets/target.js';

const allowed = new TargetRules({ allowedCidrs: ['127.0.0.1/32'], allowHttp: true });
const strict = new TargetRules({ allowedCidrs: [], allowHttp: true });

/** A name look-up with prepared answers; each look-up uses the next. */
const lookupOf = (...answers: readonly (readonly string[])[]): LookupAll => {
  const left = [...answers];
  return (_hostname, done) => {
    const addresses = (left.shift() ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    done(null, addresses);
  };
};

let server: Server;
let port = 0;
let calls = 0;

beforeAll(async () => {
  server = createServer((_request, response) => {
    calls += 1;
    response.end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

async function call(host: string, rules: TargetRules, resolve: LookupAll = lookupOf()): Promise<number | string> {
  const dispatcher = guardedAgent(rules, null, resolve);
  try {
    const { statusCode, body } = await request(`http://${host}:${port}/`, { dispatcher });
    await body.dump();
    return statusCode;
  } catch (error) {
    return error instanceof TargetRefused ? 'refused' : String(error);
  } finally {
    await dispatcher.destroy();
  }
}

describe('the HTTP client of webhooks', () => {
  it('reaches allowed targets, by address and by name', async () => {
    expect(await call('127.0.0.1', allowed)).toBe(200);
    expect(await call('hooks.test', allowed, lookupOf(['127.0.0.1']))).toBe(200);
  });

  it('refuses literal addresses, which are never looked up', async () => {
    const before = calls;
    for (const host of ['127.0.0.1', '127.1', '2130706433', '0x7f.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0']) {
      expect(await call(host, strict), host).toBe('refused');
    }
    expect(calls).toBe(before);
  });

  it('refuses a name as soon as one of its addresses is not public', async () => {
    const before = calls;
    for (const addresses of [
      ['127.0.0.1'],
      ['93.184.215.14', '127.0.0.1'],
      ['::1'],
      ['169.254.169.254'],
      ['::ffff:7f00:1'],
    ]) {
      expect(await call('hooks.test', strict, lookupOf(addresses)), addresses.join()).toBe('refused');
    }
    expect(await call('hooks.test', allowed, lookupOf(['127.0.0.1', '10.0.0.1']))).toBe('refused');
    expect(calls).toBe(before);
  });

  it('refuses a name with more than 32 addresses before one of them is judged', async () => {
    const before = calls;
    const many = (count: number): string[] => Array.from({ length: count }, () => '127.0.0.1');
    expect(await call('hooks.test', allowed, lookupOf(many(33)))).toBe('refused');
    expect(calls).toBe(before);
    expect(await call('hooks.test', allowed, lookupOf(many(32)))).toBe(200);
  });

  it('attempts two addresses of each family at most', async () => {
    const wide = new TargetRules({ allowedCidrs: ['127.0.0.0/8', '::1/128'], allowHttp: true });
    const closed = ['127.0.0.2', '127.0.0.3'];
    expect(await call('hooks.test', wide, lookupOf([...closed, '127.0.0.1']))).toBe('AggregateError');
    expect(await call('hooks.test', wide, lookupOf(['127.0.0.2', '127.0.0.1', '::1']))).toBe(200);
  });

  it('refuses local names alike, known or not, without a look-up, unless the operator allows networks', async () => {
    const looked: string[] = [];
    const known: LookupAll = (hostname, done) => {
      looked.push(hostname);
      done(null, hostname.startsWith('db') ? [{ address: '10.0.0.1', family: 4 }] : []);
    };
    for (const host of ['db', 'nosuch', 'DB', 'db.', 'db.internal', 'nosuch.internal', 'db.local', 'db.home.arpa.']) {
      expect(await call(host, strict, known), host).toBe('refused');
    }
    expect(looked).toEqual([]);
    expect(await call('receiver', allowed, lookupOf(['127.0.0.1']))).toBe(200);
  });

  it('checks the address of each connection, so a second look-up with another address is refused', async () => {
    const dispatcher = guardedAgent(allowed, null, lookupOf(['127.0.0.1'], ['10.0.0.1']));
    const first = await request(`http://rebind.test:${port}/`, { dispatcher, reset: true });
    await first.body.dump();
    expect(first.statusCode).toBe(200);
    await expect(request(`http://rebind.test:${port}/`, { dispatcher, reset: true })).rejects.toThrow(TargetRefused);
    await dispatcher.destroy();
  });

  it('fails, without being refused, when a name has no address', async () => {
    expect(await call('nowhere.test', allowed)).toContain('has no address');
  });

  it('fails, without being refused, when the real resolver does not know a name', async () => {
    const dispatcher = guardedAgent(allowed, null);
    // RFC 6761, 6.4: no resolver knows a name below `invalid`.
    const failed: unknown = await request('http://hooks.invalid/', { dispatcher }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ syscall: 'getaddrinfo', hostname: 'hooks.invalid' });
    await dispatcher.destroy();
  });
});
