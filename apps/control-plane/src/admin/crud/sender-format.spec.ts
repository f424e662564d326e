import { describe, expect, it } from 'vitest';
import { discardsSenderEvidence } from './sender-format.js';

const LINK = {
  carrier: 'north',
  senderFormat: 'auto',
  senderLearning: { learned: 'national', epoch: 1 },
  trustedForMo: true,
  systemId: 'us',
  hosts: [{ host: 'smsc.north.example', port: 2775 }],
} as const;
const MIXED = { ...LINK, senderLearning: { learned: 'mixed', epoch: 1 } } as const;

describe('the evidence of the senders of a link', () => {
  it.each([
    ['its format is set', { senderFormat: 'international' }],
    ['its carrier changes', { carrier: 'south' }],
    ['its trust changes', { trustedForMo: false }],
    ['its system_id changes', { systemId: 'them' }],
    ['its hosts change', { hosts: [{ host: 'smsc.south.example', port: 2775 }] }],
  ] as const)('is discarded when %s', (_, change) =>
    expect(discardsSenderEvidence(LINK, { ...LINK, ...change }, false)).toBe(true),
  );

  it('is kept when none of these change, and when the format is set to its current value', () => {
    expect(discardsSenderEvidence(LINK, { ...LINK }, false)).toBe(false);
    expect(discardsSenderEvidence(LINK, { ...LINK }, true)).toBe(false);
    expect(discardsSenderEvidence(MIXED, { ...MIXED }, false)).toBe(false);
  });

  it('is discarded when it is mixed and the format is set to auto again', () => {
    expect(discardsSenderEvidence(MIXED, { ...MIXED }, true)).toBe(true);
  });
});
