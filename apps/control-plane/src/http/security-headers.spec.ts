import { describe, expect, it } from 'vitest';
import { securityHeaders } from './security-headers.js';

const direct = { mode: 'direct', certFile: '/c', keyFile: '/k' } as const;
const proxy = { mode: 'proxy', trustedProxies: ['10.0.0.0/8'] } as const;

describe('the headers of every response', () => {
  it.each([
    ['TLS of its own', direct, 'https://verify.example.com', true],
    ['TLS of its own at an address', direct, 'https://127.0.0.1:8443', true],
    ['TLS of its own under a path', direct, 'https://localhost.example.com/cs', true],
    ['TLS of its own on localhost', direct, 'https://localhost:8443', false],
    ['TLS of its own below localhost', direct, 'https://verify.localhost', false],
    ['a TLS proxy', proxy, 'https://verify.example.com', false],
  ] as const)('with %s', (_what, tls, base, strict) => {
    const expected = { 'x-content-type-options': 'nosniff' };
    const hsts = { 'strict-transport-security': 'max-age=31536000' };
    expect(securityHeaders(tls, base)).toEqual(strict ? { ...expected, ...hsts } : expected);
  });
});
