import { describe, expect, it } from 'vitest';
import { refusalOf, type Applicant, type SystemTerms } from './admission.js';

const terms: SystemTerms = {
  enabled: true,
  bindTypes: ['transmitter', 'transceiver'],
  allowedCidrs: [],
  maxConnections: 2,
  tlsRequired: false,
};
const applicant: Applicant = { bindType: 'transceiver', address: '192.0.2.7', overTls: false, connections: 0 };

describe('admission', () => {
  it('lets in who keeps the terms', () => {
    expect(refusalOf(terms, true, applicant)).toBeNull();
  });

  it.each([
    ['unknown_system', null, false, applicant],
    ['wrong_password', terms, false, applicant],
    ['wrong_password', { ...terms, enabled: false, maxConnections: 0 }, false, applicant],
    ['disabled', { ...terms, enabled: false }, true, applicant],
    ['address', { ...terms, allowedCidrs: ['198.51.100.0/24'] }, true, applicant],
    ['tls_required', { ...terms, tlsRequired: true }, true, applicant],
    ['bind_type', terms, true, { ...applicant, bindType: 'receiver' as const }],
    ['too_many_connections', terms, true, { ...applicant, connections: 2 }],
  ])('refuses with %s', (refusal, someTerms, passwordMatches, someone) => {
    expect(refusalOf(someTerms, passwordMatches, someone)).toBe(refusal);
  });
});
