import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import ts from 'typescript';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AccountStage, chooseMode } from '../support/account-stage.js';
import { AdminCalls } from '../support/admin-calls.js';
import { chromiumIsMissing } from '../support/browser.js';
import { findingsOf, HOSTILE } from '../support/console-stage.js';
import type { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

const SOON_MS = 30_000;
const KEY = /csk_(?:test|live)_[0-9A-Za-z]{38}/;

/** Runs a command in a folder and resolves with what it wrote. */
const run = (command: readonly string[], cwd: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const [file = '', ...args] = command;
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: path.join(cwd, '.data/ca.pem') };
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stdout.on('data', (data) => (text += String(data)));
    child.stderr.on('data', (data) => (text += String(data)));
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(text) : reject(new Error(text))));
  });

describe.skipIf(chromiumIsMissing)('a developer of an account', () => {
  let account: AccountStage;
  let harness: ControlPlaneHarness;
  let root: AdminCalls;
  let folder: string;
  beforeAll(async () => {
    account = await AccountStage.open();
    harness = account.stage.harness;
    root = new AdminCalls(harness);
    folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-quickstart-'));
    mkdirSync(path.join(folder, '.data'));
    copyFileSync(account.caFile, path.join(folder, '.data/ca.pem'));
  });
  afterAll(async () => {
    await account.close();
    rmSync(folder, { recursive: true });
  });
  afterEach(() => expect(account.stage.complaints).toEqual([]));

  /** The quickstart with a key of test mode, and that key. */
  async function withKey(page: Page): Promise<string> {
    await page.getByRole('button', { name: 'Make a test key' }).click();
    await page.getByText('Copy the test key now').waitFor({ timeout: SOON_MS });
    return KEY.exec((await page.locator('.secret').textContent()) ?? '')?.[0] ?? '';
  }
  const code = async (page: Page): Promise<string> => (await page.locator('pre.code').textContent()) ?? '';
  /** The latest session as the page shows it. */
  const latest = (page: Page) => page.getByRole('list', { name: 'Latest sessions' }).getByRole('listitem').first();

  describe('on the quickstart', () => {
    it('runs the curl with the own key, and sees the session approved', async () => {
      const page = await account.page('/quickstart');
      const key = await withKey(page);
      writeFileSync(path.join(folder, 'call.sh'), await code(page));
      const answer = await run(['/bin/sh', 'call.sh'], folder);
      const { id } = JSON.parse(answer.slice(answer.indexOf('{'))) as { id: string };
      await latest(page).getByText(id).waitFor({ timeout: SOON_MS });
      await latest(page).getByText('approved', { exact: true }).waitFor({ timeout: SOON_MS });
      expect(await page.getByText('+15005550001', { exact: true }).count()).toBe(0);
      const stored = await page.evaluate<string>(
        'JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie + location.href',
      );
      expect(stored).not.toContain(key);
      await page.reload();
      await page.getByRole('button', { name: 'Make a test key' }).waitFor();
      expect(await code(page)).toContain('YOUR_KEY');
    });

    it('runs the TypeScript, which the compiler accepts', async () => {
      const page = await account.page('/quickstart');
      await withKey(page);
      await page.getByRole('button', { name: 'TypeScript' }).click();
      const file = path.join(folder, 'quickstart.mts');
      writeFileSync(file, await code(page));
      const types = path.resolve('node_modules/@types');
      const options = { strict: true, target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext };
      const program = ts.createProgram([file], { ...options, outDir: folder, typeRoots: [types], types: ['node'] });
      const faults = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
      expect(faults).toEqual([]);
      program.emit();
      expect(await run([process.execPath, 'quickstart.mjs'], folder)).toMatch(/^sess_.+\napproved \d+ ms\n$/);
    });

    it('opens sessions by the button, with each end', async () => {
      const page = await account.page('/quickstart');
      await withKey(page);
      await page.getByLabel('Phone, which decides what happens').selectOption('+15005550003');
      await page.getByRole('button', { name: 'Open a session here' }).click();
      await latest(page).getByText('denied', { exact: true }).waitFor({ timeout: SOON_MS });
      await latest(page).getByText('by card').waitFor();
    });

    it('reads alone as a viewer', async () => {
      const page = await account.page('/quickstart', {}, 'viewer');
      await page.getByText('Your role only reads.').waitFor();
      expect(await page.getByRole('button', { name: /Make a/ }).count()).toBe(0);
      await latest(page).waitFor({ timeout: SOON_MS });
    });
  });

  it('sees at once which mode it is, in every tab, and test data apart from live data', async () => {
    const page = await account.page('/keys');
    await page.getByText('Test mode: no message is sent, and nothing is charged.').waitFor();
    await page.getByRole('button', { name: 'Make a test key' }).waitFor();
    await page.getByRole('switch', { name: 'Test mode' }).press('Space');
    await page.getByText('Live mode: messages are sent to phones and cost money.').waitFor();
    await page.getByRole('button', { name: 'Make a live key' }).waitFor();
    expect(await page.getByText('csk_test_').count()).toBe(0);
    const other = await page.context().newPage();
    await other.goto(`${harness.baseUrl}/console/usage`);
    await other.getByText('Live mode: messages are sent to phones and cost money.').waitFor();
    await chooseMode(other, 'test');
    await page.getByText('Test mode: no message is sent, and nothing is charged.').waitFor();
  });

  it('makes a key, sees it once, rotates and revokes it', async () => {
    const page = await account.page('/keys');
    await page.getByRole('button', { name: 'Make a test key' }).click();
    const form = page.getByRole('dialog');
    expect(await findingsOf(page)).toEqual([]);
    await form.getByLabel('Name').fill(HOSTILE.slice(0, 60));
    for (const scope of ['otp', 'usage', 'realtime', 'webhooks']) await form.locator(`[value=${scope}]`).uncheck();
    await form.getByRole('button', { name: 'Make the key' }).click();
    const secret = page.locator('.secret');
    const key = KEY.exec((await secret.textContent()) ?? '')?.[0] ?? '';
    expect((await harness.call('/v1/verify', { key })).status).toBe(200);
    expect((await harness.call('/v1/usage', { key })).code).toBe('FORBIDDEN');
    const row = page.getByRole('row').filter({ hasText: HOSTILE.slice(0, 60) });
    await row.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await expect
      .poll(async () => KEY.exec((await secret.textContent()) ?? '')?.[0], { timeout: SOON_MS })
      .not.toBe(key);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText(KEY).waitFor({ state: 'detached' });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('revoked', { exact: true }).waitFor();
  });

  it('sees the texts of a brand on a phone while they are written, and asks for a name', async () => {
    const page = await account.page(`/brands/${harness.demo.brandId}`);
    await chooseMode(page, 'live');
    const phone = page.getByRole('figure', { name: 'The texts on a phone' });
    await page.getByLabel('Name, approved').fill('Acme & Söhne');
    await phone.getByText('Sign in to Acme & Söhne?').waitFor();
    await phone.getByText('074870 is your Acme & Söhne code.').waitFor();
    await page.getByLabel('Instruction').fill(`${'Long '.repeat(31)}text`);
    await phone.getByText('too long for one SMS').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Confirm with a live key' });
    await dialog.waitFor();
    expect(await findingsOf(page)).toEqual([]);
    await dialog.getByLabel('Live API key').fill(harness.demo.testApiKey);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByRole('alert').getByText('key must be a live API key of this account').waitFor();
    await dialog.getByLabel('Live API key').fill(harness.demo.apiKey);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('alert').getByText('instruction').waitFor();
    await page.getByLabel('Instruction').fill('Send this to sign in.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('waits for an operator’s approval').waitFor();
    const brand = (await root.get(`brands/${harness.demo.brandId}`)).json;
    expect([brand['name'], brand['instruction']]).toEqual([HOSTILE.slice(0, 30), 'Send this to sign in.']);
    expect(brand['requested']).toMatchObject({ name: 'Acme & Söhne' });
  });

  describe('with a webhook', () => {
    it('saves the URL, sends a test, and sees the attempts', async () => {
      const page = await account.page('/webhook');
      await page.getByLabel('URL, used unless').fill('http://192.0.2.1/x');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('alert').waitFor();
      await page.getByLabel('URL, used unless').fill(account.receiver.url);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved. It takes effect everywhere').waitFor();
      account.receiver.answerWith(500);
      await page.getByRole('button', { name: 'Send a test' }).click();
      const delivery = page.getByRole('region', { name: 'Delivery', exact: true });
      await delivery.getByRole('list', { name: 'Attempts' }).getByText('500').waitFor({ timeout: SOON_MS });
      await delivery.getByRole('button', { name: 'Send again' }).click();
      await until('it was received', SOON_MS, () =>
        Promise.resolve(account.receiver.received.filter(({ body }) => body.includes('webhook.test')).length === 2),
      );
      await expect
        .poll(
          async () => {
            await delivery.getByRole('button', { name: 'Refresh' }).click();
            return delivery.getByText('succeeded', { exact: true }).count();
          },
          { timeout: SOON_MS },
        )
        .toBe(1);
    });

    it('reads a delivery with the phone masked, and replaces the secret', async () => {
      const page = await account.page('/webhook');
      await page.getByRole('button', { name: 'verification.completed' }).first().click();
      const delivery = page.getByRole('region', { name: 'Delivery', exact: true });
      await delivery.getByText(HOSTILE, { exact: false }).first().waitFor();
      expect(await delivery.getByText('+14155552671').count()).toBe(0);
      await page.getByRole('button', { name: 'Replace the secret' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
      await page.getByText(/^whsec_/).waitFor();
      await page.getByRole('button', { name: 'I have copied it' }).click();
      await page.getByText(/whsec_/).waitFor({ state: 'detached' });
    });
  });

  it('reads errors of its servers, with a page for each, and saves them', async () => {
    const page = await account.page('/requests');
    const table = page.getByRole('table', { name: 'requests' });
    await table.getByText(HOSTILE.slice(0, 40), { exact: false }).first().waitFor();
    await table.getByText('phone=+141******71').first().waitFor();
    const link = table.getByRole('link', { name: 'VALIDATION_ERROR' }).first();
    expect((await harness.call((await link.getAttribute('href')) ?? '', { key: null })).status).toBe(200);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as CSV' }).click();
    const text = readFileSync(await (await saved).path(), 'utf8');
    expect(text.split('\r\n')[0]).toBe('id,at,keyId,method,path,status,code,latencyMs');
    expect(text).toContain('VALIDATION_ERROR');
  });

  it('sees usage as charts, and saves it', async () => {
    const page = await account.page('/usage');
    await page.getByRole('img', { name: /^Sessions by day: \d+ sessions/ }).waitFor({ timeout: SOON_MS });
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as CSV by day' }).click();
    const rows = readFileSync(await (await saved).path(), 'utf8')
      .trim()
      .split('\r\n');
    const { json } = await harness.call('/v1/usage', { key: harness.demo.testApiKey });
    const { total } = json['verifications'] as { total: number };
    expect(rows).toHaveLength(31);
    expect(Number(rows.at(-1)?.split(',')[1])).toBeLessThanOrEqual(total);
    await page.getByRole('button', { name: '7 days' }).click();
    await page.getByText('As a table').click();
    await page.getByRole('region', { name: 'Usage by day' }).getByRole('row').nth(7).waitFor();
  });

  it('goes everywhere by the keyboard, and finds no page of operators', async () => {
    const page = await account.page('/quickstart');
    await page.keyboard.press('g');
    await page.keyboard.press('u');
    await page.waitForURL('**/console/usage');
    await page.keyboard.press('Control+k');
    await page.getByLabel('Find a page, a phone or an id').fill('webh');
    await page.getByRole('menuitem', { name: 'Webhook' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console/webhook');
    expect(await page.getByRole('link', { name: 'Binds' }).count()).toBe(0);
  });

  it('is seen by an owner of the installation, who opens the account', async () => {
    const page = await account.stage.signedIn('/accounts');
    await page.getByRole('link', { name: HOSTILE.slice(0, 60) }).click();
    await page.waitForURL(/quickstart\?account=acct_/);
    await page.getByText('Make the key first').waitFor();
    await withKey(page);
    await page.getByRole('button', { name: 'Open a session here' }).click();
    await latest(page).getByText('approved', { exact: true }).waitFor({ timeout: SOON_MS });
    const tabs = page.getByRole('navigation', { name: 'Pages of the account' });
    await tabs.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('table', { name: 'keys' }).getByText('quickstart').first().waitFor();
    expect(await findingsOf(page)).toEqual([]);
  });
});
