import { describe, expect, it } from 'vitest';
import type { RcsItem, ReplyItem, SmsItem } from './phone-item.js';
import {
  cardStateOf,
  codeIn,
  entriesOf,
  networkOf,
  suggestionLayoutOf,
  SWITCHES,
  threadsOf,
  waitingIn,
  withItem,
} from './page/threads.mjs';

const PHONE = '+14155552671';
const agent = { agentId: 'acme', name: 'Acme', logoUrl: null, verified: true };
const at = (second: number): string => new Date(Date.UTC(2026, 0, 15, 12, 0, second)).toISOString();
const NOW = Date.parse(at(50));

const sms = (id: string, second: number, more: Partial<SmsItem> = {}): SmsItem => ({
  id,
  phone: PHONE,
  at: at(second),
  kind: 'sms',
  direction: 'in',
  peer: '+14155550199',
  text: 'Hello',
  commandStatus: null,
  ...more,
});
const card = (id: string, second: number, more: Partial<RcsItem> = {}): RcsItem => ({
  id,
  phone: PHONE,
  at: at(second),
  kind: 'card',
  messageId: id,
  agent,
  state: 'delivered',
  title: 'Sign in to Acme?',
  text: 'If this was not you, tap Deny.',
  mediaUrl: null,
  suggestions: [
    { index: 0, text: 'Approve' },
    { index: 1, text: 'Deny' },
  ],
  tapped: null,
  expiresAt: at(59),
  ...more,
});
const reply: ReplyItem = { id: 'r', phone: PHONE, at: at(9), kind: 'reply', agent, text: 'STOP' };

describe('the items of a phone', () => {
  it('are ordered by time, whatever the order of their arrival', () => {
    const items = [sms('a', 1), sms('c', 3)];
    expect(withItem(items, sms('b', 2)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(withItem(items, sms('d', 3)).map(({ id }) => id)).toEqual(['a', 'c', 'd']);
    expect(withItem([], sms('z', 0)).map(({ id }) => id)).toEqual(['z']);
  });

  it('are replaced by their later states', () => {
    const tapped = card('a', 1, { state: 'tapped', tapped: 0 });
    expect(withItem([card('a', 1), sms('b', 2)], tapped)).toEqual([tapped, sms('b', 2)]);
  });
});

describe('the list of conversations', () => {
  it('has one for each business and one for each number, the latest first', () => {
    const threads = threadsOf([sms('a', 1), card('b', 2), sms('c', 3, { peer: '24365' }), reply]);
    expect(threads.map(({ key, preview }) => [key, preview])).toEqual([
      ['rcs:acme', 'You: STOP'],
      ['sms:24365', 'Hello'],
      ['sms:+14155550199', 'Hello'],
    ]);
  });

  it('counts messages that arrived since the last visit, and no sent ones', () => {
    const items = [sms('a', 1), sms('b', 2), sms('c', 3, { direction: 'out' }), sms('d', 4)];
    expect(threadsOf(items)[0]?.unread).toBe(3);
    expect(threadsOf(items, { 'sms:+14155550199': at(2) })[0]?.unread).toBe(1);
  });

  it('has the state of a card', () => {
    const shown = (more: Partial<RcsItem>): string | undefined => threadsOf([card('a', 1, more)])[0]?.preview;
    expect(shown({})).toBe('Sign in to Acme?');
    expect(shown({ state: 'tapped', tapped: 1 })).toBe('You: Deny');
    expect(shown({ state: 'revoked' })).toBe('A card was withdrawn');
    expect(shown({ state: 'expired' })).toBe('A card expired on its way');
  });

  it('leaves out messages that wait for the phone to come online, which are counted separately', () => {
    const items = [card('a', 1, { state: 'waiting' }), card('b', 2, { state: 'waiting', expiresAt: at(3) })];
    expect(threadsOf(items)).toEqual([]);
    expect(waitingIn(items, NOW)).toBe(1);
  });
});

describe('a conversation', () => {
  it('shows the day, then its items, and the tapped choice as an answer after its card', () => {
    const entries = entriesOf([card('a', 1, { state: 'tapped', tapped: 0 }), sms('b', 2)], NOW);
    expect(entries).toMatchObject([
      { kind: 'day', text: 'Today' },
      { kind: 'card', mine: false },
      { kind: 'choice', mine: true, text: 'Approve' },
      { kind: 'sms', mine: false },
    ]);
  });

  it.each([
    ['open', {}],
    ['answered', { state: 'tapped', tapped: 1 }],
    ['over', { expiresAt: at(40) }],
    ['open', { expiresAt: null }],
    ['revoked', { state: 'revoked' }],
    ['expired', { state: 'expired' }],
  ] as const)('holds a card that is %s: %j', (state, more) => expect(cardStateOf(card('a', 1, more), NOW)).toBe(state));

  it('knows numbers to match from buttons to press', () => {
    const labelled = (...texts: string[]) => texts.map((text, index) => ({ index, text }));
    expect(suggestionLayoutOf(labelled('17', '42', '83', 'Deny'))).toBe('numbers');
    expect(suggestionLayoutOf(labelled('Approve', 'Deny'))).toBe('actions');
  });

  it('offers the code of a text to be copied, and no other digits', () => {
    expect(codeIn('012345 is your Acme code. Do not share it.\n@acme.example #012345')).toBe('012345');
    expect(codeIn('Call +14155550199 or 12345')).toBeNull();
  });
});

describe('RCS of a number', () => {
  it.each(['online', 'offline', 'none'] as const)('%s is what its switches say', (network) =>
    expect(networkOf(SWITCHES[network])).toBe(network),
  );

  it('is none before anything is known', () => expect(networkOf(undefined)).toBe('none'));
});
