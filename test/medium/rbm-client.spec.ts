import { fileURLToPath } from 'node:url';
import { CardAnswers, messageIdOf, type Card } from '@countersign/rcs/rules';
import { ServerKeys } from '@countersign/keys';
import { newId } from '@countersign/ids';
import { GatewaySettings, loadSettings } from '@countersign/settings';
import { createLogger } from '@countersign/telemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startGateway } from '../../apps/gateway/src/gateway.js';
import { RbmClient, type RbmProblem } from '../../apps/gateway/src/rcs/rbm/rbm-client.js';
import { openRbmEmulator, type RbmEmulator } from '../support/rbm-emulator.js';

// The client and the emulated service share no code; both follow the platform's documentation.

const ONLINE = '+14155550200';
const OFFLINE = '+14155550500';
const answers = new CardAnswers(ServerKeys.fromMaster(Buffer.alloc(32, 1)));
let service: RbmEmulator;
let client: RbmClient;
let problems: RbmProblem[];

beforeEach(async () => {
  service = await openRbmEmulator();
  problems = [];
  const settings = { baseUrl: service.url, serviceAccountFile: service.serviceAccountFile };
  const opened = RbmClient.open(settings, { nowMs: Date.now, onProblem: (problem) => void problems.push(problem) });
  if (opened === null) throw new Error('no client with settings');
  client = opened;
});

afterEach(async () => {
  await client.stop();
  await service.close();
});

function cardTo(phone: string, changes: Partial<Card> = {}): Card {
  const id = newId(Date.now());
  return {
    id,
    accountId: newId(0),
    brandId: newId(0),
    originProcess: newId(0),
    agentId: 'acme_verify@rbm.goog',
    phone,
    brandName: 'Acme',
    logoUrl: 'https://acme.example/logo.png',
    numberMatching: false,
    keyVersion: 1,
    messageId: messageIdOf(id, 'card'),
    expiresAt: new Date(Date.now() + 90_000),
    ...changes,
  };
}

const send = (card: Card) => client.sendCard(card, answers.suggestionsOf(card));
const set = (switches: object) => service.admin('PUT', '/_admin/rbm', switches);

async function messages(): Promise<Record<string, unknown>[]> {
  const { body } = await service.admin('GET', '/_admin/messages');
  return body['data'] as Record<string, unknown>[];
}

describe('cards on the emulated platform', () => {
  it.each([
    ['0200', { kind: 'sent' }],
    ['0500', { kind: 'sent' }],
    ['0410', { kind: 'sent' }],
    ['0301', { kind: 'sent' }],
    ['0404', { kind: 'unreachable' }],
    ['0429', { kind: 'refused', because: 'throttled' }],
    ['0503', { kind: 'unknown', because: 'server_error' }],
    ['0599', { kind: 'unknown', because: 'timeout' }],
  ])('to a phone that ends in %s have the outcome %j', async (ending, outcome) => {
    expect(await send(cardTo(`+1415555${ending}`))).toEqual(outcome);
  });

  it('have two buttons, or three numbers and Deny', async () => {
    const plain = cardTo(ONLINE);
    const matched = cardTo(ONLINE, { numberMatching: true, logoUrl: null });
    expect([await send(plain), await send(matched)]).toEqual([{ kind: 'sent' }, { kind: 'sent' }]);
    const [first, second] = await messages();
    expect(first).toMatchObject({
      messageId: plain.messageId,
      agentId: 'acme_verify',
      suggestions: ['Approve', 'Deny'],
      expiresAt: plain.expiresAt.toISOString(),
      trafficType: 'AUTHENTICATION',
    });
    expect(second?.['suggestions']).toHaveLength(4);
    expect(second?.['suggestions']).toContain(answers.matchCodeOf(matched));
  });

  it('that are sent again are one card, for each answer of the platform to duplicates', async () => {
    const card = cardTo(ONLINE);
    await send(card);
    expect(await send(card)).toEqual({ kind: 'sent' });
    await set({ duplicateIdStatus: 409 });
    expect(await send(card)).toEqual({ kind: 'sent' });
    expect(await messages()).toHaveLength(1);
  });

  it('of an agent that the account does not own are refused, and reported', async () => {
    await set({ agents: ['other_agent'] });
    expect(await send(cardTo(ONLINE))).toEqual({ kind: 'refused', because: 'permission_denied' });
    expect(problems).toMatchObject([{ agentId: 'acme_verify', because: 'permission_denied' }]);
    expect(problems[0]?.said).toContain('looking up the RBM agent (ID: acme_verify)');
  });
});

describe('access tokens', () => {
  it('are renewed when the platform drops them', async () => {
    expect(await send(cardTo(ONLINE))).toEqual({ kind: 'sent' });
    await set({ dropTokens: true });
    expect(await send(cardTo(ONLINE))).toEqual({ kind: 'sent' });
    await set({ dropTokens: true });
    expect(await client.revoke(cardTo(OFFLINE))).toBe('done');
    expect(problems).toEqual([]);
  });

  it('that are not granted prevent sends', async () => {
    await set({ tokenStatus: 500 });
    expect(await send(cardTo(ONLINE))).toEqual({ kind: 'refused', because: 'no_token' });
    expect(problems).toMatchObject([{ agentId: null, because: 'no_token' }]);
  });
});

describe('commands after a card', () => {
  it.each(['always200', 'strict'])('a revoke is done in the mode %s', async (revokeMode) => {
    await set({ revokeMode });
    const card = cardTo(OFFLINE);
    await send(card);
    expect(await client.revoke(card)).toBe('done');
    expect(await messages()).toMatchObject([{ state: 'revoked' }]);
    // The platform has nothing to revoke the second time.
    expect(await client.revoke(card)).toBe('done');
  });

  it('the closing text is a second message', async () => {
    const card = cardTo(ONLINE);
    await send(card);
    expect(await client.sendClosingText(card, 'approve')).toBe('done');
    expect(await messages()).toMatchObject([
      { messageId: card.messageId },
      { messageId: messageIdOf(card.id, 'closing'), text: 'You approved this sign-in to Acme.', card: null },
    ]);
  });
});

describe('a gateway', () => {
  it('does not start, and opens no database connection, with a file that is not a service account', async () => {
    const file = fileURLToPath(import.meta.url);
    const key = Buffer.alloc(32, 1).toString('base64');
    const settings = loadSettings(GatewaySettings, {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere',
      COUNTERSIGN_MASTER_KEY: key,
      RBM_BASE_URL: service.url,
      RBM_SERVICE_ACCOUNT_FILE: file,
      RBM_CLIENT_TOKEN: service.clientToken,
    });
    const start = startGateway(settings, createLogger({ app: 'gateway', level: 'silent' }));
    await expect(start).rejects.toThrow(
      `RBM_SERVICE_ACCOUNT_FILE is ${JSON.stringify(file)}, which is not a JSON object.`,
    );
  });
});
