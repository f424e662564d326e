import { describe, expect, it } from 'vitest';
import { parseRanges } from '../targets/address-ranges.js';
import { readProxiedRequest } from './client-address.js';

const trusted = parseRanges(['10.0.0.0/8', 'fd00::/8', '192.0.2.7']);
const read = (peer: string, forwardedFor?: string, forwardedProto: string | undefined = 'https') =>
  readProxiedRequest(peer, { forwardedFor, forwardedProto }, trusted);

describe('a request behind the TLS proxy', () => {
  it('is refused from a peer that is not a trusted proxy, whatever its headers', () => {
    expect(read('203.0.113.9', '10.0.0.1')).toEqual({ secure: false });
    expect(read('not an address')).toEqual({ secure: false });
  });

  it.each(['http', '', 'https, http', 'http,https', 'httpss'])('is refused when the proxy reports "%s"', (protocol) => {
    expect(read('10.0.0.1', '203.0.113.9', protocol)).toEqual({ secure: false });
  });

  it('is refused when the proxy reports no protocol', () => {
    expect(readProxiedRequest('10.0.0.1', { forwardedFor: '203.0.113.9', forwardedProto: undefined }, trusted)).toEqual(
      {
        secure: false,
      },
    );
  });

  it('has the rightmost untrusted hop as its client', () => {
    expect(read('10.0.0.1', '198.51.100.1, 203.0.113.9, 10.2.3.4')).toEqual({
      secure: true,
      clientAddress: '203.0.113.9',
    });
    expect(read('::ffff:10.0.0.1', '203.0.113.9', 'HTTPS')).toEqual({ secure: true, clientAddress: '203.0.113.9' });
    expect(read('fd00::1', '2001:db8::5')).toEqual({ secure: true, clientAddress: '2001:db8::5' });
  });

  it('has the first proxy as its client when all hops are trusted', () => {
    expect(read('10.0.0.1', '10.9.9.9, 192.0.2.7')).toEqual({ secure: true, clientAddress: '10.9.9.9' });
    expect(read('10.0.0.1')).toEqual({ secure: true, clientAddress: '10.0.0.1' });
  });
});
