import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../config/stack/postgres.mjs';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { type Answer, ControlPlaneHarness } from '../support/control-plane-harness.js';
import { FOREIGN_KEY, type Forged, HostileOpenId } from '../support/hostile-openid.js';
import { CLIENT, OpenIdProvider } from '../support/openid.js';
import { PhoneBrowser } from '../support/phone-sign-in.js';

const COOKIE = '__Host-countersign-oidc';

let harness: ControlPlaneHarness;
let root: AdminCalls;
let provider: OpenIdProvider;
let evil: HostileOpenId;
/** The same installation at the hostile provider. */
let astray: { readonly baseUrl: string; readonly stop: () => Promise<void> };

const settingsOf = (issuer: string): Record<string, string> => ({
  CONSOLE_OIDC_ISSUER: issuer,
  CONSOLE_OIDC_CLIENT_ID: CLIENT.id,
  CONSOLE_OIDC_CLIENT_SECRET: CLIENT.secret,
});

beforeAll(async () => {
  const port = String(await freePort());
  const redirectUri = `https://127.0.0.1:${port}/console/api/sign-in/oidc/callback`;
  provider = await OpenIdProvider.start([redirectUri, 'https://other.example/callback']);
  harness = await ControlPlaneHarness.open({ CONTROL_PLANE_PORT: port, ...settingsOf(provider.issuer) });
  root = new AdminCalls(harness);
  evil = await HostileOpenId.start();
  astray = await harness.neighbour(settingsOf(evil.issuer));
});
afterAll(async () => {
  await astray.stop();
  evil.stop();
  await harness.close();
  await provider.stop();
});
beforeEach(() => harness.database.query('DELETE FROM members'));

const member = (changes: Readonly<Record<string, unknown>>): Promise<Answer> =>
  root.post('members', { name: 'Ann', role: 'operator', ...changes });

/** Sends the browser to the provider; returns the address there. */
async function begun(browser: ConsoleBrowser): Promise<string> {
  const { status, headers } = await browser.call('sign-in/oidc');
  expect(status).toBe(303);
  return String(headers['location']);
}

/** Follows the way back from a provider. */
const back = (browser: ConsoleBrowser, address: string, baseUrl = harness.baseUrl): Promise<Answer> =>
  browser.call(`sign-in/oidc/callback${new URL(address).search}`, {
    baseUrl,
    headers: { 'sec-fetch-site': 'cross-site' },
  });

async function signedIn(person: string): Promise<{ browser: ConsoleBrowser; answer: Answer }> {
  const browser = new ConsoleBrowser(harness);
  const answer = await back(browser, await provider.signIn(await begun(browser), person));
  return { browser, answer };
}

const isRefused = (browser: ConsoleBrowser, { status, code }: Answer): void => {
  expect([status, code, browser.cookie]).toEqual([401, 'UNAUTHORIZED', undefined]);
};

/** The same installation, with the second step. */
async function withSecondStep(run: (baseUrl: string) => Promise<void>): Promise<void> {
  const strict = await harness.neighbour({
    ...settingsOf(provider.issuer),
    ...{ CONSOLE_SECOND_STEP: 'true', PUBLIC_BASE_URL: harness.baseUrl },
  });
  await run(strict.baseUrl).finally(() => strict.stop());
}

describe('A41 sign-ins over OpenID Connect', () => {
  it('A41 with a second step the provider alone opens no session, and a member without a phone none at all', async () => {
    const ann = await member({ email: 'ann@example.com', phone: '+14155557100' });
    await withSecondStep(async (baseUrl) => {
      const browser = new PhoneBrowser(harness, '+14155557100');
      const come = async (): Promise<Answer> => {
        const { headers } = await browser.call('sign-in/oidc', { baseUrl });
        return back(browser, await provider.signIn(String(headers['location']), 'ann'), baseUrl);
      };
      const first = await come();
      expect([first.status, first.headers['location']]).toEqual([303, '/console/sign-in?step=second']);
      expect([browser.cookie, (await browser.call('me', { baseUrl })).status]).toEqual([undefined, 401]);
      expect(await browser.sendSms()).toBe('matched');
      const { json } = await browser.call('sign-in/second-step', { baseUrl });
      expect(json).toMatchObject({ state: 'approved', me: { name: 'Ann', role: 'operator' } });
      expect(dataOf(await browser.call('sessions'))).toMatchObject([{ method: 'oidc' }]);
      await root.patch(`members/${idOf(ann)}`, { phone: null });
      const refused = await come();
      expect(refused.headers['location']).toBe('/console/sign-in?fault=no-phone');
      expect((await browser.call('me', { baseUrl })).status).toBe(401);
    });
  });

  it.each([
    ['address', { email: 'other@example.com', oidc: null }],
    ['phone', { phone: '+14155557102' }],
    ['state', { active: false }],
  ])('A41 a second step that has begun ends with a change of the member’s %s', async (_, changes) => {
    const phone = '+14155557101';
    const ann = await member({ email: 'ann@example.com', phone });
    await withSecondStep(async (baseUrl) => {
      const browser = new PhoneBrowser(harness, phone);
      const { headers } = await browser.call('sign-in/oidc', { baseUrl });
      const first = await back(browser, await provider.signIn(String(headers['location']), 'ann'), baseUrl);
      expect(first.headers['location']).toBe('/console/sign-in?step=second');
      expect((await root.patch(`members/${idOf(ann)}`, changes)).status).toBe(200);
      expect(await browser.sendSms()).toBe('matched');
      expect((await browser.call('sign-in/second-step', { baseUrl })).status).toBe(401);
      expect((await browser.call('me', { baseUrl })).status).toBe(401);
    });
  });

  it('A41 the verified address finds the member once, then the identity alone does', async () => {
    const ann = await member({ email: 'Ann@example.com' });
    const { browser, answer } = await signedIn('ann');
    expect([answer.status, answer.headers['location']]).toEqual([303, '/console/']);
    expect(browser.cookies.has(COOKIE)).toBe(false);
    expect((await browser.call('me')).json).toMatchObject({ name: 'Ann', role: 'operator' });
    expect(dataOf(await browser.call('sessions'))).toMatchObject([{ method: 'oidc' }]);
    const { json } = await root.get(`members/${idOf(ann)}`);
    expect(json).toMatchObject({
      oidc: { issuer: provider.issuer, subject: 'ann' },
      lastSignInAt: expect.any(String) as string,
    });
    // Another person with the same address, as when it passes on.
    const other = await signedIn('ann-2');
    isRefused(other.browser, other.answer);
    expect((await signedIn('ann')).answer.status).toBe(303);
    const actions = (await root.notes(idOf(ann))).map(({ action }) => action);
    // The third is the read above.
    expect(actions).toEqual(['create', 'link', 'read']);
  });

  it('A41 an address that the provider has not verified finds nobody', async () => {
    await member({ email: 'unverified@example.com' });
    const { browser, answer } = await signedIn('unverified');
    isRefused(browser, answer);
  });

  it('A41 neither a stranger, nor an inactive member, nor a member of an account signs in', async () => {
    await member({ email: 'ann@example.com', active: false });
    const { accountId } = harness.demo;
    await member({ role: 'developer', accountId, phone: '+14155552671' });
    for (const person of ['ann', 'stranger']) {
      const { browser, answer } = await signedIn(person);
      isRefused(browser, answer);
    }
  });

  it('A41 the way back of one browser signs nobody in in another (state)', async () => {
    await member({ email: 'ann@example.com' });
    const [ann, victim] = [new ConsoleBrowser(harness), new ConsoleBrowser(harness)];
    const address = await provider.signIn(await begun(ann), 'ann');
    isRefused(victim, await back(victim, address));
    await begun(victim);
    isRefused(victim, await back(victim, address));
    const state = new URL(address);
    state.searchParams.set('state', 'x');
    isRefused(ann, await back(ann, state.href));
  });

  it('A41 a way back is followed once: a copy of it, cookie and all, signs nobody in', async () => {
    await member({ email: 'ann@example.com' });
    const browser = new ConsoleBrowser(harness);
    const there = await begun(browser);
    const kept = browser.cookies.get(COOKIE) ?? '';
    const address = await provider.signIn(there, 'ann');
    expect((await back(browser, address)).status).toBe(303);
    const thief = new ConsoleBrowser(harness);
    thief.cookies.set(COOKIE, kept);
    isRefused(thief, await back(thief, address));
    // The code itself, with a sign-in of the thief's own.
    const own = new URL(await begun(thief));
    const replayed = new URL(address);
    replayed.searchParams.set('state', own.searchParams.get('state') ?? '');
    isRefused(thief, await back(thief, replayed.href));
  });

  it('A41 a way back without a code, from another issuer, or late, signs nobody in', async () => {
    await member({ email: 'ann@example.com' });
    const change: readonly ((url: URL) => void)[] = [
      (url) => url.searchParams.delete('code'),
      (url) => url.searchParams.set('code', 'x'),
      (url) => url.searchParams.set('iss', evil.issuer),
      (url) => url.searchParams.delete('iss'),
      (url) => url.searchParams.append('state', 'second'),
      (url) => url.searchParams.set('error', 'access_denied'),
    ];
    for (const apply of change) {
      const browser = new ConsoleBrowser(harness);
      const address = new URL(await provider.signIn(await begun(browser), 'ann'));
      apply(address);
      isRefused(browser, await back(browser, address.href));
    }
    const late = new ConsoleBrowser(harness);
    const address = await provider.signIn(await begun(late), 'ann');
    await harness.database.query('UPDATE console_sign_ins SET expires_at = clock_timestamp()');
    isRefused(late, await back(late, address));
  });

  const inPast = Math.floor(Date.now() / 1_000) - 3_600;

  it.each<[string, Forged]>([
    ['another nonce', { claims: { nonce: 'x' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['another audience', { claims: { aud: 'console-other' } }],
    ['another party besides the audience', { claims: { aud: ['console', 'other'], azp: 'other' } }],
    ['another issuer', { claims: { iss: 'https://id.example.com' } }],
    ['an end in the past', { claims: { exp: inPast, iat: inPast - 60 } }],
    ['no end', { claims: { exp: undefined } }],
    ['no subject', { claims: { sub: undefined } }],
    ['the signature of another key', { key: FOREIGN_KEY }],
    ['no signature', { header: { alg: 'none' }, key: null }],
    ['the algorithm of a shared key', { header: { alg: 'HS256' } }],
    ['no ID token', { noIdToken: true }],
    ['no JSON', { answer: 'x' }],
    ['much text', { answer: 'x'.repeat(1_000_000) }],
  ])('A41 an answer of the provider with %s signs nobody in', async (_, forged) => {
    await member({ email: 'ann@example.com' });
    const browser = new ConsoleBrowser(harness);
    const there = await browser.call('sign-in/oidc', { baseUrl: astray.baseUrl });
    const asked = new URL(String(there.headers['location']));
    evil.nonce = asked.searchParams.get('nonce') ?? '';
    evil.forged = forged;
    const query = new URLSearchParams({ code: 'c', state: asked.searchParams.get('state') ?? '', iss: evil.issuer });
    isRefused(browser, await back(browser, `https://x.example/?${query.toString()}`, astray.baseUrl));
  });

  it('A41 a request to the provider has PKCE, a state and a nonce, each new, and its verifier is not shown', async () => {
    evil.forged = {};
    await member({ email: 'ann@example.com' });
    const seen = new Set<string | null>();
    for (let time = 0; time < 2; time += 1) {
      const browser = new ConsoleBrowser(harness);
      const { headers } = await browser.call('sign-in/oidc', { baseUrl: astray.baseUrl });
      expect(headers['set-cookie']).toMatch(/^__Host-countersign-oidc=[\w-]{43}; .*HttpOnly; Secure; SameSite=Lax$/);
      const { searchParams } = new URL(String(headers['location']));
      expect(searchParams.get('code_challenge_method')).toBe('S256');
      for (const name of ['state', 'nonce', 'code_challenge']) seen.add(searchParams.get(name));
      evil.nonce = searchParams.get('nonce') ?? '';
      const query = new URLSearchParams({ code: 'c', state: searchParams.get('state') ?? '', iss: evil.issuer });
      // An honest answer: the tests above fail for what they forge, and for nothing else.
      expect((await back(browser, `https://x.example/?${query.toString()}`, astray.baseUrl)).status).toBe(303);
      seen.add(evil.verifiers.at(-1) ?? null);
      const rows = await harness.database.query<{ row: string }>('SELECT s::text AS row FROM console_sign_ins s');
      for (const value of seen) expect(JSON.stringify(rows)).not.toContain(String(value));
    }
    expect(seen.size).toBe(8);
    // The hostile provider has named the subject `eve`, who is that of another issuer at the real one.
    const { browser, answer } = await signedIn('eve');
    isRefused(browser, answer);
  });

  it('A41 begins without end from one address are refused', async () => {
    const codes: unknown[] = [];
    for (let time = 0; time < 70; time += 1)
      codes.push((await new ConsoleBrowser(harness).call('sign-in/oidc')).status);
    expect(codes.at(-1)).toBe(429);
  });
});
