import { describe, expect, it } from 'vitest';
import { DOMAIN, RCS_AGENT_ID, SENDER_ID } from './brand-formats.js';

const rows = (kind: string, pattern: RegExp, good: readonly string[], bad: readonly string[]): void => {
  describe(kind, () => {
    it.each(good)('may be %j', (text) => expect(pattern.test(text)).toBe(true));
    it.each(bad)('may not be %j', (text) => expect(pattern.test(text)).toBe(false));
  });
};

rows(
  'a sender',
  SENDER_ID,
  ['+14155550100', '+4915123456789', '242', '12345678', 'ACME', 'Acme2Factor', '1A', 'A'],
  ['', '+0123', '12', '123456789', '12345678901', 'Acme2Factors', 'Acme Inc', 'ACMÉ', 'ACME\n', '+1 415', '+'],
);

rows(
  'a domain',
  DOMAIN,
  ['acme.example', 'login.acme.example', 'xn--bcher-kva.example', 'a.b', 'ACME.example', '1.acme.io'],
  [
    '',
    'acme',
    'https://acme.example',
    'acme.example/',
    'acme.example:443',
    '-acme.example',
    'acme-.example',
    'acme..example',
    '.acme.example',
    'acme.example.',
    '192.0.2.1',
    'bücher.example',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}ab`,
    'acme.example\n',
  ],
);

rows(
  'an RCS agent',
  RCS_AGENT_ID,
  ['acme_verify_x1y2_agent', 'acme-agent@rbm.goog', 'A'],
  ['', '_agent', 'acme agent', 'acme@example.com', 'a'.repeat(101), 'agent\n'],
);
