import { describe, expect, it } from 'vitest';
import { inboundCommand, messageRow } from './inbound-command.js';
import type { InboundLink } from '../links/inbound-link.js';
import type { ReceivedMessage } from './received-message.js';

const ID = '01890000-0000-7000-8000-000000000001';
const OTHER_ID = '01890000-0000-7000-8000-000000000002';
const link: InboundLink = {
  id: OTHER_ID,
  peer: 'north-1',
  carrier: 'north',
  trustedForMo: true,
  senderFormat: 'auto',
  senderLearning: null,
  defaultAlphabet: 'gsm',
  retryableMoStatus: 20,
};
const message: ReceivedMessage = {
  source: { ton: 1, npi: 1, value: '14155552671' },
  destination: { ton: 1, npi: 1, value: '14155550100' },
  dataCoding: 8,
  text: 'hello',
  tokens: [],
  part: null,
  octets: null,
};
const part = { reference: 7, referenceBits: 8, total: 2, part: 1 } as const;
const untrusted = { ...link, trustedForMo: false };

describe('inbound command', () => {
  it('of a whole message may share a transaction with any other, with one of the same token too', () => {
    const tokens = [{ slug: 'ACME', token: '0123456789ABCDEF' }];
    expect(inboundCommand(ID, link, { ...message, tokens })).toMatchObject({ keys: [], whole: null });
  });

  it('gives all parts of one long message one key, over every link of the carrier', () => {
    const first = inboundCommand(ID, link, { ...message, part });
    const second = inboundCommand(ID, { ...link, id: ID }, { ...message, part: { ...part, part: 2 } });
    expect(first.whole).toEqual({
      carrier: 'north',
      source: '1:1:14155552671',
      destination: '14155550100',
      reference: 7,
      referenceBits: 8,
      total: 2,
    });
    expect(second.whole).toEqual(first.whole);
    expect(second.keys).toEqual(first.keys);
  });

  it.each<[string, InboundLink, ReceivedMessage]>([
    ['carrier', { ...link, carrier: 'south' }, { ...message, part }],
    ['source', link, { ...message, part, source: { ...message.source, value: '14155552672' } }],
    ['type of number', link, { ...message, part, source: { ...message.source, ton: 5 } }],
    ['destination', link, { ...message, part, destination: { ...message.destination, value: '14155550101' } }],
    ['reference', link, { ...message, part: { ...part, reference: 8 } }],
    ['reference width', link, { ...message, part: { ...part, referenceBits: 16 } }],
    ['total', link, { ...message, part: { ...part, total: 3 } }],
  ])('keeps long messages apart by %s', (_, otherLink, otherMessage) => {
    const known = inboundCommand(ID, link, { ...message, part });
    const other = inboundCommand(ID, otherLink, otherMessage);
    expect(other.whole).not.toEqual(known.whole);
    expect(other.keys).not.toEqual(known.keys);
  });

  it('joins no parts of a link that is not trusted, and has no keys there', () => {
    const tokens = [{ slug: 'ACME', token: '0123456789ABCDEF' }];
    expect(inboundCommand(ID, untrusted, { ...message, tokens, part })).toMatchObject({ whole: null, keys: [] });
  });

  it('is stored with its received addresses, its part and its fate', () => {
    const sealed = Buffer.from('sealed');
    const verdict = { fate: 'matched', sessionId: ID, accountId: OTHER_ID } as const;
    expect(messageRow(inboundCommand(ID, untrusted, { ...message, part }), sealed, verdict)).toEqual({
      id: ID,
      carrier: 'north',
      linkId: OTHER_ID,
      source: '14155552671',
      sourceTon: 1,
      sourceNpi: 1,
      destination: '14155550100',
      dataCoding: 8,
      textSealed: sealed,
      part: { number: 1, total: 2 },
      fate: 'matched',
      sessionId: ID,
      accountId: OTHER_ID,
    });
  });
});
