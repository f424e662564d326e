import { firstIdAt } from '@countersign/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { approvalMessage, closingMessage } from './card-message.js';

const card = {
  id: firstIdAt(Date.parse('2026-01-15T23:05:59.000Z')),
  brandName: 'Acme',
  logoUrl: 'https://acme.example/logo.png',
  numberMatching: false,
  keyVersion: 1,
  expiresAt: new Date('2026-01-15T23:07:29.123Z'),
};
const APPROVE = { text: 'Approve', postback: 'v1.a.sess_01.9f2c' };
const DENY = { text: 'Deny', postback: 'v1.d.sess_01.9f2c' };

describe('the approval card', () => {
  it('has a title, two short lines, the logo and the buttons, and expires with its session', () => {
    expect(approvalMessage(card, [APPROVE, DENY])).toEqual({
      contentMessage: {
        richCard: {
          standaloneCard: {
            cardOrientation: 'VERTICAL',
            cardContent: {
              title: 'Sign in to Acme?',
              description: 'Requested at 23:05 UTC.\nIf this was not you, tap Deny.',
              media: {
                height: 'SHORT',
                contentInfo: { fileUrl: 'https://acme.example/logo.png', forceRefresh: false },
              },
              suggestions: [
                { reply: { text: 'Approve', postbackData: 'v1.a.sess_01.9f2c' } },
                { reply: { text: 'Deny', postbackData: 'v1.d.sess_01.9f2c' } },
              ],
            },
          },
        },
      },
      messageTrafficType: 'AUTHENTICATION',
      expireTime: '2026-01-15T23:07:29.123Z',
    });
  });

  it('explains the numbers with number matching', () => {
    const numbers = ['17', '42', '80'].map((text) => ({ text, postback: `v1.n${text}.sess_01.9f2c` }));
    const message = approvalMessage({ ...card, numberMatching: true }, [...numbers, DENY]);
    expect(contentOf(message)).toMatchObject({
      description: 'Requested at 23:05 UTC. Tap the number on your screen.\nIf this was not you, tap Deny.',
      suggestions: [{ reply: { text: '17' } }, { reply: { text: '42' } }, { reply: { text: '80' } }, {}],
    });
  });

  it('has no picture without a logo that the platform can fetch', () => {
    for (const logoUrl of [null, 'http://acme.example/logo.png', `https://acme.example/${'x'.repeat(2_048)}`]) {
      expect(contentOf(approvalMessage({ ...card, logoUrl }, [APPROVE, DENY]))).not.toHaveProperty('media');
    }
  });

  it.each([
    ['no button', []],
    ['five buttons', [APPROVE, APPROVE, APPROVE, APPROVE, DENY]],
    ['a button without a label', [{ ...APPROVE, text: '' }]],
    ['a button of 26 characters', [{ ...APPROVE, text: 'x'.repeat(26) }]],
    ['a postback of 2049 characters', [{ ...APPROVE, postback: 'x'.repeat(2_049) }]],
  ])('throws for %s', (_, suggestions) => {
    expect(() => approvalMessage(card, suggestions)).toThrow(RangeError);
  });

  it.each([
    ['a title of 200 characters as it is', 'x'.repeat(188), `Sign in to ${'x'.repeat(188)}?`],
    ['a longer one up to 199 characters and an ellipsis', 'x'.repeat(189), `Sign in to ${'x'.repeat(188)}…`],
    ['no half of a surrogate pair', `${'x'.repeat(187)}😀😀`, `Sign in to ${'x'.repeat(187)}…`],
  ])('has %s', (_, brandName, title) => {
    expect(contentOf(approvalMessage({ ...card, brandName }, [APPROVE, DENY]))['title']).toBe(title);
  });

  it('stays within the limits of the platform for any brand name, and splits no character', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400, size: 'max' });
    fc.assert(
      fc.property(name, fc.boolean(), (brandName, numberMatching) => {
        const message = approvalMessage({ ...card, brandName, numberMatching }, [APPROVE, DENY]);
        const { title, description } = contentOf(message);
        expect(String(title).length).toBeLessThanOrEqual(200);
        expect(String(title)).not.toMatch(/\p{Cs}/u);
        expect(String(description).split('\n')).toHaveLength(2);
        expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(250_000);
      }),
    );
  });
});

describe('the text after a tap', () => {
  it('states the decision, and expires after two minutes', () => {
    const rest = { messageTrafficType: 'AUTHENTICATION', ttl: '120s' };
    const approved = { contentMessage: { text: 'You approved this sign-in to Acme.' }, ...rest };
    const denied = { contentMessage: { text: 'You denied this sign-in to Acme. Nobody was let in.' }, ...rest };
    expect(closingMessage(card, 'approve')).toEqual(approved);
    expect(closingMessage(card, 'deny')).toEqual(denied);
  });
});

function contentOf(message: object): Readonly<Record<string, unknown>> {
  let part: unknown = message;
  for (const name of ['contentMessage', 'richCard', 'standaloneCard', 'cardContent']) {
    part = typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[name] : null;
  }
  return part as Record<string, unknown>;
}
