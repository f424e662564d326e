import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeOutbind, type OutbindTerms } from './judge-outbind.js';

interface Terms extends OutbindTerms {
  readonly name: string;
}

const bind = (name: string, changes: Partial<Terms> = {}): Terms => ({
  name,
  enabled: true,
  tls: { enabled: false },
  outbind: { systemId: 'smsc', allowedCidrs: ['192.0.2.0/24'] },
  ...changes,
});
const NEAR = { address: '192.0.2.7', overTls: false };
const FAR = { address: '198.51.100.7', overTls: false };
const every = (): boolean => true;
const none = (): boolean => false;
const refused = (refusal: string): object => ({ accepted: false, refusal });

describe('an outbind', () => {
  it.each([
    ['of an unknown system_id', [], NEAR, every, 'unknown_system'],
    ['from another network', [bind('a')], FAR, every, 'address'],
    ['from no address', [bind('a')], { ...NEAR, address: '' }, every, 'address'],
    ['without the TLS of the bind', [bind('a', { tls: { enabled: true } })], NEAR, every, 'tls_required'],
    ['with another password', [bind('a')], NEAR, none, 'wrong_password'],
    ['for a disabled bind', [bind('a', { enabled: false })], NEAR, every, 'disabled'],
    ['for a bind that waits for none', [bind('a', { outbind: null })], NEAR, every, 'address'],
  ] as const)('%s is refused', (_what, named, peer, matches, refusal) => {
    expect(judgeOutbind(named, peer, matches)).toEqual(refused(refusal));
  });

  it('may use every bind whose terms it meets, in their order', () => {
    const named = [
      bind('far', { outbind: { systemId: 'smsc', allowedCidrs: ['198.51.100.0/24'] } }),
      bind('a'),
      bind('off', { enabled: false }),
      bind('tls', { tls: { enabled: true } }),
      bind('other'),
      bind('b'),
    ];
    const names = (overTls: boolean): unknown => {
      const verdict = judgeOutbind(named, { ...NEAR, overTls }, ({ name }) => name !== 'other');
      return verdict.accepted ? verdict.binds.map(({ name }) => name) : verdict;
    };
    expect([names(false), names(true)]).toEqual([
      ['a', 'b'],
      ['a', 'tls', 'b'],
    ]);
  });

  it('compares no password of a bind whose network or TLS the peer does not have', () => {
    const terms = fc.record({
      enabled: fc.boolean(),
      tls: fc.record({ enabled: fc.boolean() }),
      near: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(terms, { maxLength: 6 }), fc.boolean(), fc.boolean(), (all, overTls, matches) => {
        const named = all.map(({ near, enabled, tls }, at) =>
          bind(String(at), {
            enabled,
            tls,
            outbind: { systemId: 'smsc', allowedCidrs: [near ? '192.0.2.0/24' : '198.51.100.0/24'] },
          }),
        );
        const compared: string[] = [];
        const verdict = judgeOutbind(named, { ...NEAR, overTls }, ({ name }) => {
          compared.push(name);
          return matches;
        });
        const allowed = all.flatMap(({ near, tls }, at) => (near && (overTls || !tls.enabled) ? [String(at)] : []));
        expect(compared).toEqual(allowed);
        expect(verdict.accepted).toBe(matches && allowed.some((at) => all[Number(at)]?.enabled === true));
      }),
    );
  });
});
