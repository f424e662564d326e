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
  waiter: ID,
  logoUrl: null,
  numberMatching: true,
  keyVersion: 1,
  expiresAt: new Date(0),
};
const errand = (kind: RbmCommand['kind']): RbmCommand => ({ ...address, kind, expiresAt: new Date(0) });

function opened(): { readonly platform: CardPlatform; readonly said: unknown[] } {
  const said: unknown[] = [];
  const client = {
    send: (_: Card, suggestions: readonly { text: string }[]) => {
      said.push(suggestions.map(({ text }) => text));
      return Promise.resolve({ kind: 'sent' } as const);
    },
    revoke: () => Promise.resolve((said.push('revoke'), 'done' as const)),
    close: (_: unknown, verdict: string) => Promise.resolve((said.push(verdict), 'done' as const)),
    stop: () => Promise.resolve(),
  };
  return { platform: new CardPlatform(client, answers), said };
}

describe('the platform', () => {
  it('is sent a card with the buttons that are its own', async () => {
    const { platform, said } = opened();
    expect(await platform.send(card)).toEqual({ kind: 'sent' });
    expect(said).toEqual([answers.suggestionsOf(card).map(({ text }) => text)]);
  });

  it('is told what an errand says', async () => {
    const { platform, said } = opened();
    for (const kind of ['revoke', 'close_approved', 'close_denied'] as const) await platform.run(errand(kind));
    expect(said).toEqual(['revoke', 'approve', 'deny']);
  });

  it('that is not set up refuses every card at once', async () => {
    const platform = new CardPlatform(null, answers);
    expect(platform.isSetUp).toBe(false);
    expect(await platform.send(card)).toEqual({ kind: 'refused', because: 'not_set_up' });
    expect(await platform.run(errand('revoke'))).toBe('again');
    await platform.stop();
  });
});
