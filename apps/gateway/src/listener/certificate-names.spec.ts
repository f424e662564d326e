import fc from 'fast-check';
import type { PeerCertificate } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { alternativeNames, certificateNames } from './certificate-names.js';

const certificate = (CN: unknown, subjectaltname?: string): Partial<PeerCertificate> =>
  ({ subject: { CN }, subjectaltname }) as unknown as Partial<PeerCertificate>;

describe('names of a certificate', () => {
  it('are its common names and its DNS, email and URI alternative names', () => {
    const names = certificateNames(
      certificate('north', 'DNS:n.example, IP Address:192.0.2.7, URI:urn:n, email:a@n.ex'),
    );
    expect(names).toEqual(['north', 'n.example', 'urn:n', 'a@n.ex']);
    expect(certificateNames(certificate(['north', 'south']))).toEqual(['north', 'south']);
  });

  it('are none without a certificate or a common name', () => {
    expect(certificateNames({})).toEqual([]);
    expect(certificateNames(certificate(undefined))).toEqual([]);
  });

  it('are read when Node quotes them, and no name is read from inside another', () => {
    expect(alternativeNames('DNS:"evil.example, DNS:north", URI:x')).toEqual(['evil.example, DNS:north', 'x']);
    for (const text of ['DNS:"north', 'north', 'DNS:north, ', 'DNS:a"b', 'DNS:"\\x"', 'DNS:a,DNS:b']) {
      expect(alternativeNames(text)).not.toContain('b');
    }
    expect(alternativeNames('DNS:"\\x", DNS:north')).toEqual([]);
  });

  it('round-trip, whatever characters they contain', () => {
    const quoted = (name: string): string =>
      name.includes(',') || JSON.stringify(name) !== `"${name}"` ? JSON.stringify(name) : name;
    const entries = fc.array(fc.tuple(fc.constantFrom('DNS', 'email', 'URI'), fc.string({ minLength: 1 })));
    fc.assert(
      fc.property(entries, (names) => {
        const text = names.map(([kind, name]) => `${kind}:${quoted(name)}`).join(', ');
        expect(alternativeNames(text)).toEqual(names.map(([, name]) => name));
      }),
    );
  });

  it('are parsed from any text without an error', () => {
    fc.assert(fc.property(fc.string(), (text) => alternativeNames(text).length <= text.length));
  });
});
