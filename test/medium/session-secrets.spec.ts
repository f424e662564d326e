import { createHash } from 'node:crypto';
import { CarrierStore } from '@countersign/carriers/config';
import { ConcatenationStore, MessageStore, type MessagePart } from '@countersign/carriers/inbound';
import { fallbackText } from '@countersign/session/tokens';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSessionHarness, PHONE, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

const SYSTEM_PASSWORD = 'hunter2hunter2';
const CODE = '739105';
const BIND_PASSWORD = 'correct-horse-battery';

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness();
});
afterAll(() => harness.close());

/** Every row of every table as text, as in a dump. */
async function dump(): Promise<string> {
  const tables = await harness.database.query<{ name: string }>(
    // The lock of migrations has no rows, and only the owner may read it.
    `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migration_lock'`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await harness.database.query<{ text: string }>(`SELECT t::text AS text FROM ${name} AS t`);
    texts.push(...rows.map(({ text }) => text));
  }
  return texts.join('\n').toLowerCase();
}

/** The encodings in which a secret could be stored: plain, hex and base64. */
function encodings(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const ofHex = /^(?:[0-9a-f]{2})+$/.test(secret) ? [Buffer.from(secret, 'hex').toString('base64')] : [];
  return [secret, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, ''), ...ofHex].map((text) =>
    text.toLowerCase(),
  );
}

/** Creates a session with each ending, and their messages, parts, systems and keys. Returns the secrets by name. */
async function createSecrets(): Promise<Record<string, string>> {
  const { database, clock, keys, accounts, account, sessions } = harness;
  const { key: apiKey } = await accounts.createApiKey(database, { accountId: account.id, kind: 'live', name: 'main' });
  const carriers = new CarrierStore({ keys, newId: () => clock.newId() });
  await carriers.createSystem(database, { systemId: 'agg', carrier: 'agg', password: SYSTEM_PASSWORD });
  await carriers.createBind(database, {
    name: 'sim',
    carrier: 'sim',
    hosts: [{ host: '127.0.0.1', port: 2776 }],
    systemId: 'us',
    password: BIND_PASSWORD,
  });
  const [approved, cancelled, expired, coded] = await Promise.all([
    sessions.create(harness.draft()),
    sessions.create(harness.draft()),
    sessions.create(harness.draft()),
    sessions.create(harness.draft()),
  ]);
  const found = harness.tokenOf(approved.id);
  const text = fallbackText(found.slug, found.token, approved.instruction);
  const id = clock.newId();
  const part: MessagePart = {
    carrier: 'agg',
    source: PHONE,
    destination: '+14155550100',
    reference: 7,
    referenceBits: 8,
    total: 2,
    number: 1,
    edges: text,
  };
  await database.transaction(async (tx) => {
    await new ConcatenationStore(keys).addParts(tx, [part]);
    const { verdicts } = await sessions.matchInbound(tx, 'live', [
      { tokens: [found], senders: [PHONE], trusted: true },
    ]);
    const [verdict] = verdicts;
    if (verdict === undefined) throw new Error('no verdict');
    await new MessageStore().insertInbound(tx, [
      {
        id,
        carrier: 'agg',
        linkId: account.id,
        source: '14155552671',
        sourceTon: 1,
        sourceNpi: 1,
        destination: '14155550100',
        dataCoding: 0,
        part: { number: 1, total: 2 },
        textSealed: keys.seal('message-text', text, id),
        ...verdict,
      },
    ]);
  });
  await database.transaction(async (tx) => {
    const ready = await sessions.prepareCode(tx, liveTenant(coded.accountId), coded.id);
    if (ready.kind === 'ready') await sessions.addCode(tx, ready, CODE);
  });
  await sessions.cancel(liveTenant(cancelled.accountId), cancelled.id);
  await database.query('UPDATE sessions SET expires_at = created_at WHERE id = $1', [expired.id]);
  await sessions.expireDueSessions(10);
  return {
    'the token of an approved session': found.token,
    'the token of a cancelled session': harness.tokenOf(cancelled.id).token,
    'the token of an expired session': harness.tokenOf(expired.id).token,
    authEntropy: harness.renderer.authEntropy(approved),
    'the API key': apiKey,
    'its secret part': apiKey.slice('csk_live_'.length, -6),
    'the webhook secret': harness.webhookSecret,
    'its bytes': Buffer.from(harness.webhookSecret.slice('whsec_'.length), 'base64').toString('hex'),
    "the system's password": SYSTEM_PASSWORD,
    "the bind's password": BIND_PASSWORD,
    'the text of the message': text,
  };
}

describe('a dump of the database', () => {
  it('contains no token, code, authEntropy, key, password or message text, in any encoding', async () => {
    const secrets = await createSecrets();
    const dumped = await dump();
    // The dump contains the relevant rows, with their public values.
    expect(dumped).toContain('verification.completed');
    expect(dumped).toContain('verification.cancelled');
    expect(dumped).toContain('verification.expired');
    expect(dumped).toContain('matched');
    expect(dumped).toContain(PHONE);
    const found = Object.entries(secrets)
      .filter(([, secret]) => encodings(secret).some((encoding) => dumped.includes(encoding)))
      .map(([name]) => name);
    expect(found).toEqual([]);
    expect(dumped).not.toContain('fallbackuri');
    expect(dumped).not.toContain('authentropy');
    // Only six separate digits: within the hex digits of ids and digests the code can occur by chance.
    expect(dumped).not.toMatch(new RegExp(`(?<![0-9a-f])${CODE}(?![0-9a-f])`));
    const [, ...encoded] = encodings(CODE);
    expect(encoded.filter((encoding) => dumped.includes(encoding))).toEqual([]);
    // Digests are keyed: a token or a code does not identify its row.
    const [, token = ''] = Object.entries(secrets)[0] ?? [];
    for (const secret of [token, CODE]) {
      expect(dumped).not.toContain(createHash('sha256').update(secret).digest('hex'));
    }
  });
});
