import { describe, expect, it } from 'vitest';
import { hostsOf, shownHosts } from './hosts.js';

describe('hosts of a bind', () => {
  it('are read from a text, with the port of SMPP where none is given', () => {
    expect(hostsOf('smsc.example:2776, 192.0.2.7\n[2001:db8::1]:2777')).toEqual([
      { host: 'smsc.example', port: 2776 },
      { host: '192.0.2.7', port: 2775 },
      { host: '2001:db8::1', port: 2777 },
    ]);
  });

  it('are read again as they were shown', () => {
    const hosts = [
      { host: 'smsc.example', port: 2776 },
      { host: '2001:db8::1', port: 2775 },
    ];
    expect(hostsOf(shownHosts(hosts))).toEqual(hosts);
  });

  it('that are none stay for the server to refuse', () => {
    expect(hostsOf('a:b:c')).toEqual([{ host: 'a:b:c', port: 2775 }]);
  });
});
