import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effectiveOptions, encodeTlvs, NO_OPTIONS, rewriteAddress, submitOptionsFault } from './index.js';
import type { RewriteRule } from './submit-options.js';

const VALUES = { brand: 'Acme', sender: '60606', country: 'IN', messageId: 'msg_1' };
const rule = (changes: Partial<RewriteRule> = {}): RewriteRule => ({
  of: 'destination',
  match: '+44',
  replace: '0',
  ...changes,
});
const where = (options: unknown): string | null => {
  const fault = submitOptionsFault(options);
  return fault === null ? null : [...fault.path, fault.message].join(' ');
};

describe('submit options', () => {
  it.each<[object]>([
    [{}],
    [{ validityPeriod: 'absolute', serviceType: 'OTP', protocolId: 0x40, priorityFlag: 4, registeredDelivery: 0 }],
    [{ serviceType: '', source: {}, destination: { ton: 2, npi: 1, form: 'national' } }],
    [{ concatenation: 'sar', tlvs: [], rewrite: [] }],
    [{ tlvs: [{ tag: '0x1400', type: 'string', value: '1701158019811140068' }] }],
    [{ tlvs: [{ tag: 'user_message_reference', type: 'uint16', value: 65_535 }] }],
    [{ tlvs: [{ tag: 0x3fff, type: 'hex', value: '' }] }],
    [{ tlvs: [{ tag: 5_120, type: 'cstring', value: '{{brand}}/{{sender}}/{{country}}/{{messageId}}' }] }],
    [{ rewrite: [{ of: 'source', match: 'ACME', exact: true, replace: 'VM-ACME' }] }],
    [{ rewrite: [rule({ match: '+', replace: '+00' })] }],
  ])('may be %j', (options) => expect(where(options)).toBeNull());

  it.each<[unknown, string]>([
    [null, 'must be an object'],
    [[], 'must be an object'],
    [{ validity: 'none' }, 'validity is not known: the members are validityPeriod'],
    [{ validityPeriod: 'never' }, 'validityPeriod must be one of relative, absolute, none'],
    [{ serviceType: 'SIXSIX' }, 'serviceType must be 0 to 5 printable characters'],
    [{ protocolId: 256 }, 'protocolId must be a whole number from 0 to 255'],
    [{ priorityFlag: 5 }, 'priorityFlag must be a whole number from 0 to 4'],
    [{ registeredDelivery: null }, 'registeredDelivery must be a whole number from 0 to 31'],
    [{ source: { type: 1 } }, 'source type is not known'],
    [{ destination: { form: 'e164' } }, 'destination form must be one of international, plus, national'],
    [{ tlvs: {} }, 'tlvs must be a list'],
    [{ tlvs: [{ tag: 0x1400, type: 'string' }] }, 'tlvs 0 value is required'],
    [{ tlvs: [{ tag: '1400', type: 'string', value: '' }] }, 'tlvs 0 tag must be a number'],
    [{ tlvs: [{ tag: 'toString', type: 'string', value: '' }] }, 'tlvs 0 tag must be a number'],
    [{ tlvs: [{ tag: 65_536, type: 'string', value: '' }] }, 'tlvs 0 tag must be a number'],
    [{ tlvs: [{ tag: 'message_payload', type: 'string', value: '' }] }, 'tlvs 0 tag is set by concatenation'],
    [
      {
        tlvs: [
          { tag: '0x1400', type: 'string', value: '1' },
          { tag: 5_120, type: 'string', value: '2' },
        ],
      },
      'tlvs 1 tag is given twice',
    ],
    [{ tlvs: [{ tag: 1, type: 'uint8', value: 256 }] }, 'tlvs 0 value must be a whole number from 0 to 255'],
    [{ tlvs: [{ tag: 1, type: 'hex', value: 'abc' }] }, 'tlvs 0 value must be pairs of hexadecimal digits'],
    [{ tlvs: [{ tag: 1, type: 'string', value: '{{code}}' }] }, 'tlvs 0 value must have no placeholders but {{brand}}'],
    [{ tlvs: [{ tag: 1, type: 'string', value: 'ä' }] }, 'tlvs 0 value must be printable characters of ASCII'],
    [{ tlvs: [{ tag: 1, type: 'cstring', value: 'x'.repeat(255) }] }, 'tlvs 0 value must have at most 255 octets'],
    [{ tlvs: [{ tag: 'source_port', type: 'uint8', value: 1 }] }, 'tlvs 0 value must be a value of 2 octets'],
    [{ tlvs: Array.from({ length: 17 }, (_, tag) => ({ tag, type: 'hex', value: '' })) }, 'tlvs must be a list'],
    [{ rewrite: [{ of: 'both', match: '+', replace: '' }] }, 'rewrite 0 of must be one of source, destination'],
    [{ rewrite: [rule({ match: '^44' })] }, 'rewrite 0 match must be a prefix'],
    [{ rewrite: [rule({ match: 'ACME' })] }, 'rewrite 0 match must be a prefix'],
    [{ rewrite: [rule({ match: 'ACME', exact: true })] }, 'rewrite 0 match must be digits'],
    [{ rewrite: [rule({ exact: true, replace: '' })] }, 'rewrite 0 replace must not be empty'],
    [{ rewrite: [rule({ replace: '4+4' })] }, 'rewrite 0 replace must be digits'],
    [{ rewrite: [rule({ replace: '12345678' })] }, 'rewrite 0 replace must have at most 7 characters'],
    [{ rewrite: Array.from({ length: 17 }, () => rule()) }, 'rewrite must be a list'],
  ])('%j: the fault names the member', (options, fault) => expect(where(options)).toContain(fault));

  it('hold their examples; a fault names the example, what came out, and by which rule', () => {
    const examples = [{ from: '+447400123456', to: '07400123456' }];
    expect(where({ rewrite: [rule({ examples })] })).toBeNull();
    expect(where({ rewrite: [rule({ replace: '00', examples })] })).toBe(
      'rewrite 0 examples 0 does not hold: "+447400123456" becomes "007400123456" (by rewrite.0), not "07400123456"',
    );
    expect(where({ rewrite: [rule({ match: '+447', replace: '9' }), rule({ examples })] })).toBe(
      'rewrite 1 examples 0 does not hold: "+447400123456" becomes "9400123456" (by rewrite.0), not "07400123456"',
    );
    expect(where({ rewrite: [rule({ match: '+33', examples })] })).toContain('(no rule matches it)');
  });

  it('are refused or accepted, whatever they are, and never throw', () => {
    const member = fc.constantFrom('validityPeriod', 'source', 'tlvs', 'rewrite', 'concatenation', '__proto__');
    const anything = fc.oneof(fc.jsonValue(), fc.dictionary(member, fc.jsonValue()), fc.anything());
    fc.assert(
      fc.property(anything, (value) => {
        expect(() => submitOptionsFault(value)).not.toThrow();
      }),
    );
  });
});

describe('the options of a message', () => {
  it('are those of the route, then those of its target, by whole keys', () => {
    const target = { validityPeriod: 'none', source: { ton: 1, npi: 1 } } as const;
    expect(effectiveOptions(target, { source: { ton: 0 } })).toEqual({ validityPeriod: 'none', source: { ton: 0 } });
    expect(effectiveOptions({}, {})).toBe(NO_OPTIONS);
  });

  it('are none when stored options are not legal', () => {
    expect(effectiveOptions({}, { priorityFlag: 9 })).toBeNull();
    expect(effectiveOptions({ priorityFlag: 9 }, { priorityFlag: 1 })).toBeNull();
  });
});

describe('a rewriting rule', () => {
  it.each<[Partial<RewriteRule>, string, string, number | null]>([
    [{}, '+447400123456', '07400123456', 0],
    [{ match: '44', replace: '0044' }, '+447400123456', '00447400123456', 0],
    [{ match: '+33' }, '+447400123456', '+447400123456', null],
    [{ of: 'source' }, '+447400123456', '+447400123456', null],
    [{ match: '+447400123456', replace: '' }, '+447400123456', '+447400123456', null],
    [{ match: '447400123456', exact: true, replace: '1' }, '+447400123456', '1', 0],
    [{ match: '+44', exact: true }, '+447400123456', '+447400123456', null],
  ])('%j makes of %s %s', (changes, from, address, applied) =>
    expect(rewriteAddress([rule(changes)], 'destination', from)).toEqual({ address, rule: applied }),
  );

  it('is the first that matches, and the only one', () => {
    const rules = [rule({ match: '+1', replace: '+44' }), rule()];
    expect(rewriteAddress(rules, 'destination', '+14155552671')).toEqual({ address: '+444155552671', rule: 0 });
  });
});

describe('the value of a TLV', () => {
  const octets = (type: 'string' | 'cstring' | 'hex' | 'uint32', value: string | number, values = VALUES): string =>
    encodeTlvs([{ tag: 1, type, value }], values)[0]?.value.toString('latin1') ?? '';

  it('is encoded by its type', () => {
    expect(octets('string', '110')).toBe('110');
    expect(octets('cstring', '110')).toBe('110\0');
    expect(octets('hex', '00fF')).toBe('\x00ÿ');
    expect(octets('uint32', 0x01020304)).toBe('\x01\x02\x03\x04');
  });

  it('has the values of its placeholders, cut between characters', () => {
    expect(octets('string', '{{brand}}-{{sender}}-{{country}}-{{messageId}}')).toBe('Acme-60606-IN-msg_1');
    const long = encodeTlvs([{ tag: 1, type: 'string', value: '{{brand}}' }], { ...VALUES, brand: 'é\0'.repeat(80) });
    expect(long[0]?.value.toString('utf8')).toBe('é'.repeat(50));
  });

  it('is not expanded twice', () =>
    expect(octets('string', '{{brand}}', { ...VALUES, brand: '{{sender}}' })).toBe('{{sender}}'));
});
