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
const applicant: BindAttempt = {
  bindType: 'transceiver',
  address: '192.0.2.7',
  overTls: false,
  certificateNames: null,
  connections: 0,
};

describe('admission', () => {
  it('lets in who keeps the terms', () => {
    expect(refusalOf(terms, true, applicant)).toBeNull();
  });

  it.each([
    ['unknown_system', null, false, applicant],
    ['wrong_password', terms, false, applicant],
    ['wrong_password', { ...terms, enabled: false, maxConnections: 0 }, false, applicant],
    ['disabled', { ...terms, enabled: false }, true, applicant],
    ['bind_type', terms, true, { ...applicant, bindType: 'receiver' as const }],
    ['too_many_connections', terms, true, { ...applicant, connections: 2 }],
  ])('refuses with %s', (refusal, someTerms, passwordMatches, someone) => {
    expect(refusalOf(someTerms, passwordMatches, someone)).toBe(refusal);
  });
});

describe('a connection', () => {
  const overTls = { ...applicant, overTls: true };
  const byCertificate = { ...terms, tlsRequired: true, trustedForMo: true };
  const byAddress = { ...byCertificate, allowedCidrs: ['192.0.2.0/24'] };

  it.each([
    ['address', { ...terms, allowedCidrs: ['198.51.100.0/24'] }, applicant],
    ['address', { ...byCertificate, allowedCidrs: ['198.51.100.0/24'] }, { ...overTls, certificateNames: ['north'] }],
    ['tls_required', { ...terms, tlsRequired: true }, applicant],
    ['certificate', byCertificate, { ...overTls, certificateNames: ['south', 'North', 'north.example'] }],
    ['certificate', byCertificate, { ...overTls, certificateNames: [] }],
    ['certificate', { ...byCertificate, allowedCidrs: ['192.0.0.0/8'] }, { ...overTls, certificateNames: [] }],
  ])('is refused with %s', (refusal, someTerms, peer) => {
    expect(connectionRefusal(someTerms, peer)).toBe(refusal);
  });

  it.each([
    ['is open to all', terms, applicant],
    ['is named by the certificate', byCertificate, { ...overTls, certificateNames: ['south', 'north'] }],
    ['is asked for no certificate, and so is not trusted', byCertificate, overTls],
    ['is proven by its address, whatever the certificate names', byAddress, { ...overTls, certificateNames: [] }],
    ['needs no proof', { ...byCertificate, trustedForMo: false }, { ...overTls, certificateNames: [] }],
  ])('is allowed where the system %s', (_why, someTerms, peer) => {
    expect(connectionRefusal(someTerms, peer)).toBeNull();
  });
});
