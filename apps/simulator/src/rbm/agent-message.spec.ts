import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAgentMessage } from './agent-message.js';
import { RpcRefusal } from '../http/rpc-refusal.js';

const NOW = Date.parse('2026-01-15T10:00:00Z');
const approve = { reply: { text: 'Approve', postbackData: 'v1.a' } };
const deny = { reply: { text: 'Deny', postbackData: 'v1.d' } };
const content = { title: 'Sign in to Acme?', description: 'Requested at 10:00 UTC.', suggestions: [approve, deny] };
const media = { height: 'SHORT', contentInfo: { fileUrl: 'https://cdn.example/a.png', forceRefresh: false } };

const cardOf = (cardContent: object, standalone: object = {}): object => ({
  contentMessage: { richCard: { standaloneCard: { cardOrientation: 'VERTICAL', cardContent, ...standalone } } },
});
const textOf = (text: unknown, more: object = {}): object => ({ contentMessage: { text, ...more } });
const read = (body: unknown) => readAgentMessage(body, NOW);

describe('a message of an agent', () => {
  it('is a card with its buttons', () => {
    const message = read({
      ...cardOf({ ...content, media }),
      messageTrafficType: 'AUTHENTICATION',
      expireTime: '2026-01-15T10:01:30Z',
    });
    expect(message).toMatchObject({
      card: { title: 'Sign in to Acme?', fileUrl: 'https://cdn.example/a.png' },
      text: null,
      trafficType: 'AUTHENTICATION',
      expiresAtMs: NOW + 90_000,
    });
    expect(message.suggestions).toEqual([
      { kind: 'reply', text: 'Approve', postbackData: 'v1.a' },
      { kind: 'reply', text: 'Deny', postbackData: 'v1.d' },
    ]);
  });

  it('is a text, with chips or without', () => {
    expect(read(textOf('Signed in.', { suggestions: [approve] }))).toMatchObject({
      card: null,
      text: 'Signed in.',
      suggestions: [{ text: 'Approve' }],
      expiresAtMs: null,
    });
  });

  it('lives for its ttl, which is not answered again', () => {
    const message = read({ ...textOf('x'), ttl: '90.5s' });
    expect(message.expiresAtMs).toBe(NOW + 90_500);
    expect(message.echo).not.toHaveProperty('ttl');
  });

  it.each([
    ['no object', 'x'],
    ['no content', {}],
    ['two contents', textOf('x', { contentInfo: {} })],
    ['an unknown field', { ...textOf('x'), otp: true }],
    ['an unknown field of the content', textOf('x', { html: '' })],
    ['a text that is none', textOf(1)],
    ['a text of 3073 characters', textOf('x'.repeat(3073))],
    ['an empty card', cardOf({})],
    ['a title of 201 characters', cardOf({ title: 'x'.repeat(201) })],
    ['a description of 2001 characters', cardOf({ description: 'x'.repeat(2001) })],
    ['five buttons', cardOf({ ...content, suggestions: Array(5).fill(approve) })],
    ['twelve chips', textOf('x', { suggestions: Array(12).fill(approve) })],
    [
      'a label of 26 characters',
      cardOf({ ...content, suggestions: [{ reply: { ...approve.reply, text: 'x'.repeat(26) } }] }),
    ],
    ['a label of none', cardOf({ ...content, suggestions: [{ reply: { ...approve.reply, text: '' } }] })],
    [
      'a postback of 2049',
      cardOf({ ...content, suggestions: [{ reply: { text: 'x', postbackData: 'x'.repeat(2049) } }] }),
    ],
    ['a reply without postback', cardOf({ ...content, suggestions: [{ reply: { text: 'x' } }] })],
    ['a suggestion of both kinds', cardOf({ ...content, suggestions: [{ ...approve, action: {} }] })],
    ['an action that does nothing', cardOf({ ...content, suggestions: [{ action: { text: 'x' } }] })],
    ['no orientation', cardOf(content, { cardOrientation: undefined })],
    ['a horizontal card without alignment', cardOf(content, { cardOrientation: 'HORIZONTAL' })],
    ['a picture over http', cardOf({ media: { ...media, contentInfo: { fileUrl: 'http://cdn.example/a.png' } } })],
    ['a picture of some height', cardOf({ media: { ...media, height: 'HUGE' } })],
    ['a traffic type OTP', { ...textOf('x'), messageTrafficType: 'OTP' }],
    ['two ends', { ...textOf('x'), ttl: '10s', expireTime: '2026-01-15T10:01:30Z' }],
    ['an end that has passed', { ...textOf('x'), expireTime: '2026-01-15T10:00:00Z' }],
    ['an end that is no time', { ...textOf('x'), expireTime: 'tomorrow' }],
    ['a day that does not exist', { ...textOf('x'), expireTime: '2026-13-45T99:00:00Z' }],
    ['an end beyond 15 days', { ...textOf('x'), ttl: '1296001s' }],
    ['a ttl without unit', { ...textOf('x'), ttl: '90' }],
    [
      'more than 250 KB',
      textOf('x', { suggestions: Array(11).fill({ reply: { text: 'x', postbackData: 'x'.repeat(30_000) } }) }),
    ],
  ])('with %s is refused', (_, body) => {
    expect(() => read(body)).toThrow(RpcRefusal);
  });

  it('of any form is read or refused, never anything else', () => {
    const leaf = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null), fc.constant('VERTICAL'));
    const names = fc.constantFrom(
      ...['contentMessage', 'richCard', 'standaloneCard', 'cardContent', 'text', 'suggestions', 'reply', 'action'],
      ...['postbackData', 'media', 'contentInfo', 'ttl', 'expireTime', '__proto__', 'constructor', 'toString'],
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 7 },
        leaf,
        fc.dictionary(names, tie('value')),
        fc.array(tie('value'), { maxLength: 4 }),
      ),
    }));
    fc.assert(
      fc.property(value, (body) => {
        try {
          read(body);
        } catch (error) {
          expect(error).toBeInstanceOf(RpcRefusal);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('that keeps the limits is read back as it was written', () => {
    const label = fc.string({ minLength: 1, maxLength: 25 });
    const postback = fc.string({ maxLength: 200 });
    const buttons = fc.array(fc.tuple(label, postback), { maxLength: 4 });
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), buttons, (title, labels) => {
        const suggestions = labels.map(([text, postbackData]) => ({ reply: { text, postbackData } }));
        const message = read(cardOf({ title, suggestions }));
        expect(message.card?.title).toBe(title);
        expect(message.suggestions.map(({ text, postbackData }) => [text, postbackData])).toEqual(labels);
      }),
    );
  });
});
