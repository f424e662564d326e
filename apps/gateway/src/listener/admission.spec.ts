import { describe, expect, it } from 'vitest';
import { connectionRefusal, refusalOf, type BindAttempt, type SystemTerms } from './admission.js';

const terms: SystemTerms = {
  systemId: 'north',
  trustedForMo: false,
  enabled: true,
  bindTypes: ['transmitter', 'transceiver'],
  allowedCidrs: [],
  maxConnections: 2,
  tlsRequired: false,
};
const attempt: BindAttempt = {
  bindType: 'transceiver',
  address: '192.0.2.7',
  overTls: false,
  certificateNames: null,
  connections: 0,
};

describe('admission', () => {
  it('accepts a bind that meets the terms', () => {
    expect(refusalOf(terms, true, attempt)).toBeNull();
  });

  it.each([
    ['unknown_system', null, false, attempt],
    ['wrong_password', terms, false, attempt],
    ['wrong_password', { ...terms, enabled: false, maxConnections: 0 }, false, attempt],
    ['disabled', { ...terms, enabled: false }, true, attempt],
    ['bind_type', terms, true, { ...attempt, bindType: 'receiver' as const }],
    ['too_many_connections', terms, true, { ...attempt, connections: 2 }],
  ])('refuses with %s', (refusal, someTerms, passwordMatches, someAttempt) => {
    expect(refusalOf(someTerms, passwordMatches, someAttempt)).toBe(refusal);
  });
});

describe('a connection', () => {
  const overTls = { ...attempt, overTls: true };
  const byCertificate = { ...terms, tlsRequired: true, trustedForMo: true };
  const byAddress = { ...byCertificate, allowedCidrs: ['192.0.2.0/24'] };

  it.each([
    ['address', { ...terms, allowedCidrs: ['198.51.100.0/24'] }, attempt],
    ['address', { ...byCertificate, allowedCidrs: ['198.51.100.0/24'] }, { ...overTls, certificateNames: ['north'] }],
    ['tls_required', { ...terms, tlsRequired: true }, attempt],
    ['certificate', byCertificate, { ...overTls, certificateNames: ['south', 'North', 'north.example'] }],
    ['certificate', byCertificate, { ...overTls, certificateNames: [] }],
    ['certificate', { ...byCertificate, allowedCidrs: ['192.0.0.0/8'] }, { ...overTls, certificateNames: [] }],
  ])('is refused with %s', (refusal, someTerms, peer) => {
    expect(connectionRefusal(someTerms, peer)).toBe(refusal);
  });

  it.each([
    ['has no terms', terms, attempt],
    ['is named by the certificate', byCertificate, { ...overTls, certificateNames: ['south', 'north'] }],
    ['needs a certificate and the gateway requests none', byCertificate, overTls],
    ['is proven by the address, whatever the certificate names', byAddress, { ...overTls, certificateNames: [] }],
    ['needs no proof', { ...byCertificate, trustedForMo: false }, { ...overTls, certificateNames: [] }],
  ])('is allowed where the system %s', (_why, someTerms, peer) => {
    expect(connectionRefusal(someTerms, peer)).toBeNull();
  });
});
