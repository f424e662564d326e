import path from 'node:path';
import { parseFallbackUri } from '@countersign/sdk';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../config/stack/postgres.mjs';
import { idOf } from '../support/admin-calls.js';
import { chromiumIsMissing } from '../support/browser.js';
import { ConsoleStage, DESKTOP, findingsOf, isTooWide, NARROW } from '../support/console-stage.js';
import type { Esme } from '../support/esme.js';
import { CLIENT, OpenIdProvider } from '../support/openid.js';

const SOON_MS = 30_000;
const MEMBER = '+14155557001';
const HOLDER = '+14155557002';

describe.skipIf(chromiumIsMissing)('the sign-in of the console', () => {
  let stage: ConsoleStage;
  let provider: OpenIdProvider;
  let carrier: Esme;
  let key: string;
  beforeAll(async () => {
    const port = String(await freePort());
    provider = await OpenIdProvider.start([`https://127.0.0.1:${port}/console/api/sign-in/oidc/callback`]);
    stage = await ConsoleStage.open({
      CONTROL_PLANE_PORT: port,
      CONSOLE_OIDC_ISSUER: provider.issuer,
      CONSOLE_OIDC_CLIENT_ID: CLIENT.id,
      CONSOLE_OIDC_CLIENT_SECRET: CLIENT.secret,
      CONSOLE_OIDC_NAME: 'Acme ID',
      CONSOLE_SECOND_STEP: 'true',
    });
    const { accountId } = stage.harness.demo;
    await stage.admin.post('members', { name: 'Bo Dev', role: 'developer', accountId, phone: MEMBER });
    const made = await stage.admin.post('admin-keys', { name: 'night shift', role: 'operator', phone: HOLDER });
    expect(idOf(made)).toMatch(/^akey_/);
    key = String(made.json['key']);
    await stage.gateway.system({ systemId: 'mobile' });
    carrier = await stage.gateway.esme('mobile');
  });
  afterAll(async () => {
    await stage.close();
    await provider.stop();
  });
  afterEach(() => expect(stage.complaints).toEqual([]));

  /** The phone sends the SMS of the link on the page: over SMPP, from a carrier to the gateway. */
  async function sendSms(page: Page, phone: string): Promise<void> {
    const href = await page.getByRole('link', { name: 'Open on this phone' }).getAttribute('href');
    const { number, text } = parseFallbackUri(href ?? '') ?? { number: '', text: '' };
    const answer = await carrier.send('submit_sm', {
      ...{ source_addr_ton: 1, source_addr_npi: 1, source_addr: phone.slice(1) },
      ...{ dest_addr_ton: 1, dest_addr_npi: 1, destination_addr: number.replace('+', ''), short_message: text },
    });
    expect(answer.command_status).toBe(0);
  }

  async function began(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'With a phone' }).click();
    await page.getByLabel('Your phone number').fill('+1 (415) 555-7001');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('img', { name: /camera of your phone/ }).waitFor({ timeout: SOON_MS });
  }

  it('with a phone is approved by its SMS, over SMPP through a gateway', async () => {
    const page = await stage.visit('/sign-in');
    await began(page);
    await sendSms(page, MEMBER);
    await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'), { timeout: SOON_MS });
    const me = await page.evaluate<{ name: string }>("fetch('/console/api/me').then((answer) => answer.json())");
    expect(me).toMatchObject({ name: 'Bo Dev', role: 'developer' });
  });

  it('says what to do about a wrong number and a wrong code', async () => {
    const page = await stage.visit('/sign-in?way=phone');
    await page.getByLabel('Your phone number').fill('12');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('This number cannot be verified. Write it with the country code').waitFor();
    await began(page);
    await page.getByRole('button', { name: 'Get a code by SMS' }).click();
    await page.getByLabel('Code', { exact: true }).fill('000000');
    await page.getByRole('button', { name: 'Check the code' }).click();
    await page.getByText('This code is not right').waitFor();
    await page.getByRole('button', { name: 'Start again' }).click();
    await page.getByLabel('Your phone number').waitFor();
  });

  it('with a key needs the approval by the phone of its holder', async () => {
    const page = await stage.visit('/sign-in?next=%2Fgateways');
    await page.getByLabel('Admin key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'One more step' }).waitFor();
    await page.getByText('+141******02').waitFor();
    await sendSms(page, HOLDER);
    await page.getByRole('heading', { level: 1, name: 'Gateways' }).waitFor({ timeout: SOON_MS });
  });

  it('leads to no other origin, whatever the address of the page names', async () => {
    for (const next of ['http://127.0.0.2:9/look-alike', '\thttp://127.0.0.2:9/look-alike', '//127.0.0.2:9/x']) {
      const page = await stage.visit(`/sign-in?next=${encodeURIComponent(next)}`);
      await page.getByLabel('Admin key').fill(stage.admin.key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'), { timeout: SOON_MS });
      expect([next, new URL(page.url()).origin]).toEqual([next, stage.harness.baseUrl]);
      await page.getByRole('navigation').first().waitFor({ timeout: SOON_MS });
    }
  });

  it('at the provider is offered by its name, and comes back with a reason when nobody is known', async () => {
    const page = await stage.visit('/sign-in');
    const offer = page.getByRole('link', { name: 'Sign in with Acme ID' });
    expect(await offer.getAttribute('href')).toBe('/console/api/sign-in/oidc');
    await page.goto(`${stage.harness.baseUrl}/console/api/sign-in/oidc/callback?state=x`);
    await page.getByText('The provider’s sign-in was not accepted').waitFor();
  });

  describe.each([
    ['light', DESKTOP],
    ['dark', DESKTOP],
    ['light', NARROW],
    ['dark', NARROW],
  ] as const)('in the %s theme at %o', (colorScheme, viewport) => {
    it('has no finding of axe, and is not wider than the screen', async () => {
      const page = await stage.visit('/sign-in', { colorScheme, viewport });
      await page.getByLabel('Admin key').waitFor();
      const look = async (name: string): Promise<void> => {
        expect([name, await findingsOf(page), await isTooWide(page)]).toEqual([name, [], false]);
        const folder = process.env['PICTURES'];
        const file = `sign-in-${name}-${colorScheme}-${String(viewport.width)}.png`;
        if (folder !== undefined) await page.screenshot({ path: path.join(folder, file), fullPage: true });
      };
      await page.getByRole('link', { name: 'Sign in with Acme ID' }).waitFor();
      await look('key');
      await stage.harness.database.query(`DELETE FROM console_sign_ins`);
      await page.getByLabel('Admin key').fill(stage.admin.key.slice(0, -1));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('This key is not valid here.').waitFor();
      await page.getByLabel('Admin key').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('img', { name: /camera of your phone/ }).waitFor({ timeout: SOON_MS });
      await look('step');
    });
  });
});
