import type { RbmCommand } from '@countersign/rcs/commands';
import { CardAnswers, type Card } from '@countersign/rcs/rules';
import { ServerKeys } from '@countersign/keys';
import { describe, expect, it } from 'vitest';
import { CardPlatform } from './card-platform.js';

const answers = new CardAnswers(ServerKeys.fromMaster(Buffer.alloc(32, 1)));
const ID = '01890000-0000-7000-8000-000000000001';
const address = { id: ID, agentId: 'acme_agent', phone: '+14155552671', brandName: 'Acme', messageId: ID };
const card: Card = {
  ...address,
  accountId: ID,
  brandId: ID,
  originProcess: ID,
  logoUrl: null,
  numberMatching: true,
  keyVersion: 1,
  expiresAt: new Date(0),
};
const command = (kind: RbmCommand['kind']): RbmCommand => ({ ...address, kind, expiresAt: new Date(0) });

function opened(): { readonly platform: CardPlatform; readonly requests: unknown[] } {
  const requests: unknown[] = [];
  const client = {
    sendCard: (_: Card, suggestions: readonly { text: string }[]) => {
      requests.push(suggestions.map(({ text }) => text));
      return Promise.resolve({ kind: 'sent' } as const);
    },
    revoke: () => Promise.resolve((requests.push('revoke'), 'done' as const)),
    sendClosingText: (_: unknown, verdict: string) => Promise.resolve((requests.push(verdict), 'done' as const)),
    stop: () => Promise.resolve(),
  };
  return { platform: new CardPlatform(client, answers), requests };
}

describe('the platform', () => {
  it('gets a card with the card’s own buttons', async () => {
    const { platform, requests } = opened();
    expect(await platform.sendCard(card)).toEqual({ kind: 'sent' });
    expect(requests).toEqual([answers.suggestionsOf(card).map(({ text }) => text)]);
  });

  it('gets the request of each command', async () => {
    const { platform, requests } = opened();
    for (const kind of ['revoke', 'close_approved', 'close_denied'] as const) await platform.runCommand(command(kind));
    expect(requests).toEqual(['revoke', 'approve', 'deny']);
  });

  it('refuses every card when it is not configured', async () => {
    const platform = new CardPlatform(null, answers);
    expect(platform.isConfigured).toBe(false);
    expect(await platform.sendCard(card)).toEqual({ kind: 'refused', because: 'not_set_up' });
    expect(await platform.runCommand(command('revoke'))).toBe('again');
    await platform.stop();
  });
});
