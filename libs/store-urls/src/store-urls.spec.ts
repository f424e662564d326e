import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { databaseUrls, readRedisUrl } from './index.js';

describe('a database URL', () => {
  it.each([
    ['postgres://u:p@h/db', ['postgres://u:p@h/db']],
    ['postgres:///db?host=/run/postgresql', ['postgres:///db?host=/run/postgresql']],
    [
      'postgres://u:p%40@h1:5432,h2:5433/db?sslmode=verify-full&target_session_attrs=read-write',
      ['postgres://u:p%40@h1:5432/db?sslmode=verify-full', 'postgres://u:p%40@h2:5433/db?sslmode=verify-full'],
    ],
    ['postgresql://[::1]:5432,h2/db', ['postgresql://[::1]:5432/db', 'postgresql://h2/db']],
    ['postgres://h/db?target_session_attrs=primary', ['postgres://h/db']],
  ])('%s has these hosts', (text, urls) => {
    expect(databaseUrls(text)).toEqual(urls);
  });

  it.each([
    'mysql://h/db',
    'postgres://h1,/db',
    'postgres://,h1/db',
    'postgres://h1:99999,h2/db',
    'postgres://h1:x,h2/db',
    'postgres://h1,h2/db?target_session_attrs=standby',
    'postgres://h1,h2/db?target_session_attrs=read-write&target_session_attrs=any',
    `postgres://${Array.from({ length: 17 }, (_, n) => `h${n}`).join(',')}/db`,
    'h1,h2',
    '',
  ])('%s is refused', (text) => {
    expect(databaseUrls(text)).toBeNull();
  });
});

describe('a Redis URL', () => {
  const server = { kind: 'server', tls: false, username: null, password: null, masterName: null, database: null };

  it.each([
    ['redis://h', { ...server, nodes: [{ host: 'h', port: 6379 }] }],
    [
      'rediss://u:p%2F@[::1]:1/3',
      { ...server, tls: true, username: 'u', password: 'p/', database: 3, nodes: [{ host: '::1', port: 1 }] },
    ],
    [
      'redis+sentinel://:p@h1:26379,h2/mymaster',
      {
        ...server,
        kind: 'sentinel',
        password: 'p',
        masterName: 'mymaster',
        nodes: [
          { host: 'h1', port: 26_379 },
          { host: 'h2', port: 26_379 },
        ],
      },
    ],
    [
      'rediss+sentinel://h1/mymaster/2',
      {
        ...server,
        kind: 'sentinel',
        tls: true,
        masterName: 'mymaster',
        database: 2,
        nodes: [{ host: 'h1', port: 26_379 }],
      },
    ],
    [
      'redis+cluster://h1:6379,h2:6380',
      {
        ...server,
        kind: 'cluster',
        nodes: [
          { host: 'h1', port: 6379 },
          { host: 'h2', port: 6380 },
        ],
      },
    ],
  ])('%s is read', (text, target) => {
    expect(readRedisUrl(text)).toEqual(target);
  });

  it.each([
    'redis://h1,h2',
    'redis+sentinel://h1',
    'redis+sentinel:///mymaster',
    'redis+sentinel://h1/mymaster/x',
    'redis+cluster://h1/2',
    'redis+cluster://',
    'redis://h/x',
    'http://h',
    'redis+other://h',
    '',
  ])('%s is refused', (text) => {
    expect(readRedisUrl(text)).toBeNull();
  });
});

it.each([
  'redis+sentinel://h/%',
  'redis+sentinel://postgres://%',
  'redis://user:50%@h:6379',
  'redis://:%ff@h',
  'postgres://user:50%@h/db',
])('a percent sign that begins no escape is refused: %s', (text) => {
  expect([databaseUrls(text), readRedisUrl(text)]).toEqual([null, null]);
});

it('any text is read or refused', () => {
  const part = fc.constantFrom(
    'postgres://',
    'redis+sentinel://',
    'redis://',
    'h',
    ',',
    ':',
    '1',
    '@',
    '/',
    '?',
    '#',
    '%',
    '[',
    ']',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(part).map((parts) => parts.join('')),
      ),
      (text) => {
        expect(databaseUrls(text)?.every((url) => URL.canParse(url)) ?? true).toBe(true);
        expect(readRedisUrl(text)?.nodes.every(({ port }) => port >= 0 && port < 65_536) ?? true).toBe(true);
      },
    ),
    { examples: [['redis+sentinel://postgres://%']] },
  );
});
