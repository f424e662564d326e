import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, ENTROPY_KEY, MASTER_KEY, type Answer } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let slugs = 0;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
});
afterAll(() => harness.close());

const draft = (changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  accountId: harness.demo.accountId,
  name: 'Beta',
  slug: `BETA${(slugs += 1)}`,
  instruction: 'Send this message.',
  ...changes,
});
const made = (changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> => admin.post('brands', draft(changes));

const WHOLE = {
  name: 'Beta',
  slug: 'WHOLE',
  instruction: 'Nachricht so absenden: ÄÖÜß',
  logoUrl: 'https://beta.example/logo.png',
  rcsAgentId: 'beta_verify_x1y2_agent',
  rcsNumberMatching: true,
  senderId: 'BETA',
  domain: 'login.beta.example',
  active: false,
};

describe('a brand', () => {
  it('needs account, name, slug and instruction, and has a default for everything else', async () => {
    const body = draft();
    const answer = await admin.post('brands', body);
    expect(answer.status).toBe(201);
    const { id, ...rest } = answer.json;
    expect(id).toMatch(/^brd_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(rest).toEqual({
      ...body,
      logoUrl: null,
      rcsAgentId: null,
      rcsNumberMatching: false,
      senderId: null,
      domain: null,
      entropyKeyVersion: 1,
      active: true,
    });
    expect((await admin.get(`brands/${String(id)}`)).json).toEqual(answer.json);
  });

  it('takes all of its fields, at its creation and later', async () => {
    expect((await made(WHOLE)).json).toMatchObject(WHOLE);
    const later = await made();
    expect((await admin.patch(`brands/${idOf(later)}`, { ...WHOLE, slug: 'LATER' })).json).toEqual({
      ...later.json,
      ...WHOLE,
      slug: 'LATER',
    });
    const bare = { logoUrl: null, rcsAgentId: null, senderId: null, domain: null };
    expect((await admin.patch(`brands/${idOf(later)}`, bare)).json).toEqual({
      ...later.json,
      ...WHOLE,
      slug: 'LATER',
      ...bare,
    });
  });

  it('works for a session at once; disabled it ends within 5 s', async () => {
    const brandId = idOf(await made({ slug: 'ATONCE' }));
    const create = (): Promise<Answer> => harness.create({ brandId });
    expect((await create()).json['fallbackUri']).toMatch(/body=AUTH-ATONCE-/);
    await admin.patch(`brands/${brandId}`, { active: false });
    await expect.poll(async () => (await create()).code, { timeout: 5_000 }).toBe('INVALID_BRAND');
  });

  it('leaves its sessions unchanged when it is changed or deleted', async () => {
    const brandId = idOf(await made({ slug: 'BEFORE' }));
    const session = (await harness.create({ brandId })).json;
    await admin.patch(`brands/${brandId}`, { slug: 'AFTER', instruction: 'Something else.' });
    expect((await harness.call(`/v1/verify/${String(session['id'])}`)).json).toEqual(session);
  });

  it.each<[string, unknown]>([
    ['accountId', undefined],
    ['accountId', 5],
    ['accountId', 'acct_00000000000000000000000000'],
    ['accountId', 'nonsense'],
    ['name', undefined],
    ['name', ''],
    ['name', 'żółć'],
    ['name', null],
    ['slug', undefined],
    ['slug', 'A'],
    ['slug', 'ABCDEFGHIJKLM'],
    ['slug', 'acme'],
    ['slug', 'AC-ME'],
    ['slug', 'ACME\n'],
    ['instruction', undefined],
    ['instruction', ' '],
    ['instruction', 'two\nlines'],
    ['instruction', 'smile 🙂'],
    ['instruction', 'x'.repeat(140)],
    ['instruction', null],
    ['logoUrl', 'http://beta.example/logo.png'],
    ['logoUrl', 'https://127.0.0.1/logo.png'],
    ['logoUrl', 'https://user@beta.example/'],
    ['logoUrl', 'logo.png'],
    ['rcsAgentId', 'an agent'],
    ['rcsAgentId', ''],
    ['rcsNumberMatching', 1],
    ['rcsNumberMatching', null],
    ['senderId', 'twelve chars'],
    ['senderId', '12'],
    ['senderId', '123456789'],
    ['senderId', '+0123'],
    ['senderId', ''],
    ['domain', 'https://beta.example'],
    ['domain', 'localhost'],
    ['domain', '192.0.2.1'],
    ['domain', `${'a'.repeat(60)}.${'b'.repeat(60)}.example`],
    ['active', null],
    ['entropyKeyVersion', 1],
    ['nothing', 'x'],
  ])('with %s %j is refused, and nothing is made', async (field, value) => {
    const before = (await admin.get('brands?limit=100')).text;
    const answer = await made({ [field]: value });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
    expect((await admin.get('brands?limit=100')).text).toBe(before);
  });

  it('is checked in the order in which its fields are documented, unknown ones last', async () => {
    const wrong = Object.entries({
      accountId: 5,
      name: '',
      slug: 'x',
      instruction: '',
      logoUrl: 'x',
      rcsAgentId: '',
      rcsNumberMatching: 'x',
      senderId: '',
      domain: 'x',
      active: 'x',
      nothing: 'x',
    });
    for (const [at, [field]] of wrong.entries()) {
      const body = { ...draft(), ...Object.fromEntries(wrong.slice(at).reverse()) };
      expect((await admin.post('brands', body)).field).toBe(field);
      if (at > 0)
        expect((await admin.patch(`brands/${harness.demo.brandId}`, Object.fromEntries(wrong.slice(at)))).field).toBe(
          field,
        );
    }
  });

  it.each([['accountId'], ['id'], ['entropyKeyVersion']])('never changes its %s', async (field) => {
    const answer = await admin.patch(`brands/${harness.demo.brandId}`, { [field]: 'x' });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  it.each([['+14155550100'], ['24273'], ['BETA2GO']])('may send from %s', async (senderId) => {
    expect((await made({ senderId })).json['senderId']).toBe(senderId);
  });

  it('is measured as a whole: a change that makes another part too long names the part that is too long', async () => {
    const domain = `${'a'.repeat(50)}.${'b'.repeat(40)}.example`;
    const id = idOf(await made({ domain }));
    expect((await admin.patch(`brands/${id}`, { name: 'x'.repeat(30) })).field).toBe('domain');
    expect((await admin.patch(`brands/${id}`, { name: 'x'.repeat(30), domain: null })).status).toBe(200);
    const full = idOf(await made({ slug: 'FULL', instruction: 'x'.repeat(160 - 'AUTH-FULL-'.length - 16 - 1) }));
    const longer = await admin.patch(`brands/${full}`, { slug: 'FULLER' });
    expect([longer.code, longer.field]).toEqual(['VALIDATION_ERROR', 'instruction']);
    expect((longer.json['error'] as { message: string }).message).toBe(
      'instruction makes the message 2 characters longer than one SMS.',
    );
  });

  it('keeps its slug to itself', async () => {
    await made({ slug: 'TAKEN' });
    for (const answer of [
      await made({ slug: 'TAKEN' }),
      await admin.patch(`brands/${idOf(await made())}`, { slug: 'TAKEN' }),
    ]) {
      expect([answer.status, answer.code, answer.field]).toEqual([409, 'CONFLICT', 'slug']);
    }
    const racers = await Promise.all(Array.from({ length: 5 }, () => made({ slug: 'RACED' })));
    expect(racers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  it('is switched off, not deleted', async () => {
    const answer = await admin.delete(`brands/${harness.demo.brandId}`);
    expect([answer.status, answer.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
  });

  it('is listed by account', async () => {
    const other = String((await admin.post('accounts', { name: 'Other' })).json['id']);
    const theirs = await made({ accountId: other });
    expect((await admin.get(`brands?accountId=${other}`)).json).toEqual({ data: [theirs.json], hasMore: false });
    expect((await admin.get('brands?accountId=acct_00000000000000000000000000')).json['data']).toEqual([]);
  });

  it('has audit entries of its changes, and none of refused ones', async () => {
    const id = idOf(await made({ slug: 'TRACED' }));
    await admin.patch(`brands/${id}`, { slug: 'TAKEN' });
    await admin.patch(`brands/${id}`, { domain: 'beta.example' });
    expect(
      (await admin.notes(id)).map(({ action, before, after }) => [action, before?.['domain'], after?.['domain']]),
    ).toEqual([
      ['create', undefined, null],
      ['update', null, 'beta.example'],
    ]);
  });
});

describe('a new entropy key', () => {
  it('applies to brands created from then on; earlier ones keep theirs', async () => {
    const old = await made();
    await harness.stop();
    const keys = `1:${ENTROPY_KEY.toString('base64')},2:${MASTER_KEY.toString('base64')}`;
    await harness.start({ ...harness.environment, COUNTERSIGN_ENTROPY_KEYS: keys });
    expect((await made()).json['entropyKeyVersion']).toBe(2);
    expect((await admin.patch(`brands/${idOf(old)}`, { name: 'Changed' })).json['entropyKeyVersion']).toBe(1);
  });
});
