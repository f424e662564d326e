import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHosts } from './hosts-file.js';

const V4 = (address: string) => ({ address, family: 4 });

describe('the text of a hosts file', () => {
  it('gives each name all addresses of its lines in order, ignoring case', () => {
    const names = parseHosts('127.0.0.1\tlocalhost Loop\r\n::1 localhost\n\n  10.0.0.7   a.test\tb.test # c.test\n');
    expect(Object.fromEntries(names)).toEqual({
      localhost: [V4('127.0.0.1'), { address: '::1', family: 6 }],
      loop: [V4('127.0.0.1')],
      'a.test': [V4('10.0.0.7')],
      'b.test': [V4('10.0.0.7')],
    });
  });

  it.each(['', '#', 'a.test 10.0.0.7', '10.0.0 a.test', '10.0.0.7', '10.0.0.7#a.test', '0x7f.1 a.test'])(
    'gives no address in %j',
    (text) => {
      expect(parseHosts(text).size).toBe(0);
    },
  );

  it('is parsed without an exception, whatever it is', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => parseHosts(text).size >= 0));
  });
});
