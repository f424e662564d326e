import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { dataOf } from '../support/admin-calls.js';
import { chromiumIsMissing } from '../support/browser.js';
import { ConsoleStage, findingsOf, HOSTILE, isTooWide, NARROW } from '../support/console-stage.js';
import { until } from '../support/until.js';

const SOON_MS = 30_000;

describe.skipIf(chromiumIsMissing)('the pages of operators', () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });
  afterAll(() => stage.close());
  afterEach(() => expect(stage.complaints).toEqual([]));

  const title = (page: Page, name: string): Promise<void> =>
    page.getByRole('heading', { level: 1, name, exact: true }).waitFor({ timeout: SOON_MS });
  const rowOf = (page: Page, text: string): Locator => page.getByRole('row').filter({ hasText: text });

  describe('the overview', () => {
    it('is the first page: incidents, figures, a chart, groups and caps', async () => {
      const page = await stage.signedIn('');
      await title(page, 'Overview');
      const incidents = page.getByRole('region', { name: 'Incidents now' });
      await incidents.getByText('The guard blocks +4412345').waitFor({ timeout: SOON_MS });
      await page.getByRole('img', { name: /^Sessions from .* created, .* approved\.$/ }).waitFor({ timeout: SOON_MS });
      await page.locator('.chart canvas').waitFor();
      const groups = page.getByRole('region', { name: 'Funnel by' });
      await groups.getByRole('button', { name: 'Brand' }).click();
      await groups.getByText(HOSTILE.slice(0, 30), { exact: true }).first().waitFor();
      await page.getByRole('region', { name: 'Codes today against caps' }).getByRole('meter').first().waitFor();
    });

    it('shows any range, which is part of the address', async () => {
      const page = await stage.signedIn('/overview');
      await page.getByRole('link', { name: '7 days' }).click();
      await page.waitForURL(/range=7d/);
      await page.getByText('Custom range').click();
      await page.getByLabel('From', { exact: true }).fill('2026-01-01T00:00');
      await page.getByLabel('To', { exact: true }).fill('2026-01-02T00:00');
      await page.getByRole('button', { name: 'Show' }).click();
      await page.waitForURL(/from=2025-12-31/);
      await page.getByText('No session in this range').waitFor({ timeout: SOON_MS });
    });
  });

  describe('a bind', () => {
    it('gets another window and rate, and shows it in its timeline', async () => {
      const page = await stage.signedIn('/binds');
      const card = page.getByRole('listitem').filter({ hasText: 'north 1' });
      await card.getByRole('button', { name: 'Window and rate' }).click();
      const form = page.getByRole('dialog');
      expect(await findingsOf(page)).toEqual([]);
      await form.getByLabel('Window').fill('0');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.locator('input[name="window"]:invalid').waitFor();
      await form.getByLabel('Window').fill('17');
      await form.getByLabel('Codes a second').fill('33');
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText('north 1: window 17, 33 codes a second.').waitFor();
      await page.getByRole('link', { name: 'north 1' }).click();
      await title(page, 'north 1');
      const timeline = page.getByRole('region', { name: 'Timeline' });
      await timeline
        .getByText(/^Changed: (window, submitPerSecond|submitPerSecond, window)$/)
        .waitFor({ timeout: SOON_MS });
      await timeline
        .getByText(/Connection \d bound/)
        .first()
        .waitFor();
    });

    it('is created, edited and deleted; what the server refuses stays in the form', async () => {
      const page = await stage.signedIn('/binds');
      await page.getByRole('button', { name: 'Create a bind' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Name').fill('west');
      await form.getByLabel('Carrier').fill('west');
      await form.getByLabel('Hosts').fill('127.0.0.1:9');
      await form.getByLabel('system_id').fill('acme');
      await form.getByLabel('Password').fill('secret08');
      await form.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('link', { name: 'west', exact: true }).waitFor({ timeout: SOON_MS });
      await page.getByRole('link', { name: 'west', exact: true }).click();
      await title(page, 'west');
      await page.getByRole('button', { name: 'Edit' }).click();
      await form.getByText('More settings').click();
      expect(await findingsOf(page)).toEqual([]);
      await form.getByLabel('Hosts').fill('127.0.0.1:99999');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByRole('alert').filter({ hasText: 'hosts' }).waitFor();
      await form.getByLabel('Hosts').fill('127.0.0.1:8');
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText('127.0.0.1:8', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Delete west' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('west is deleted.').waitFor();
      await title(page, 'Binds');
    });

    it('has a timeline of its connections, also after the carrier has died and come back', async () => {
      const page = await stage.signedIn(`/binds/${stage.bindId}`);
      const timeline = page.getByRole('region', { name: 'Timeline' });
      await timeline.getByText('Connection 1 bound').first().waitFor();
      const failures = await timeline.getByText('Connection 0 failed').count();
      stage.carrier.drop();
      await expect
        .poll(() => timeline.getByText('Connection 0 failed').count(), { timeout: SOON_MS })
        .toBeGreaterThan(failures);
      await expect.poll(() => stage.carrier.links, { timeout: SOON_MS }).toBe(2);
      await timeline.locator('li').first().getByText('bound').waitFor({ timeout: SOON_MS });
    });

    it('is tried with a test message, whose response is shown', async () => {
      const page = await stage.signedIn(`/binds/${stage.bindId}`);
      await page.getByRole('button', { name: 'Send a test message' }).click();
      const form = page.getByRole('dialog');
      await form.getByRole('textbox', { name: 'To', exact: true }).fill('+14155552671');
      await form.getByLabel('From').fill('60606');
      await form.getByRole('button', { name: 'Send' }).click();
      await page.getByText('The test message is accepted.').waitFor({ timeout: SOON_MS });
      await page.getByText(stage.carrier.idOf(stage.carrier.submits.length - 1), { exact: true }).waitFor();
      const sent = stage.carrier.submits.at(-1);
      expect((sent?.short_message as { readonly message: string }).message).toMatch(/^Test message/);
    });

    it('gives its capture as a file', async () => {
      const page = await stage.signedIn(`/binds/${stage.bindId}`);
      await page.getByRole('button', { name: 'Show the last PDUs' }).click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Download pcap' }).click(),
      ]);
      expect(file.suggestedFilename()).toBe(`${stage.bindId}.pcap`);
      const magic = readFileSync(await file.path()).readUInt32LE(0);
      expect([0xa1b2c3d4, 0xa1b23c4d, 0x4d3cb2a1, 0xd4c3b2a1]).toContain(magic);
    });
  });

  describe('routes', () => {
    const priorities = async (): Promise<unknown[]> => {
      const rows = dataOf(await stage.admin.get('routes?limit=100'));
      return rows
        .filter(({ prefix }) => prefix === '+4420')
        .sort((one, other) => Number(one['priority']) - Number(other['priority']))
        .map(({ sourceAddress }) => sourceAddress);
    };

    it('are created, edited and deleted', async () => {
      const page = await stage.signedIn('/routes');
      const form = page.getByRole('dialog');
      for (const sender of ['AAA', 'BBB', 'CCC']) {
        await page.getByRole('button', { name: 'Create a route' }).click();
        await form.getByLabel('Prefix').fill('+4420');
        await form.getByLabel('Bind or system').selectOption({ label: 'north 1' });
        await form.getByLabel('Priority').fill(String(['AAA', 'BBB', 'CCC'].indexOf(sender)));
        await form.getByLabel('Sender').fill(sender);
        await form.getByRole('button', { name: 'Create' }).click();
        await rowOf(page, sender).waitFor();
      }
      await page.getByRole('button', { name: 'Create a route' }).click();
      await form.getByLabel('Prefix').fill('44');
      await form.getByRole('button', { name: 'Create' }).click();
      await form.getByRole('alert').filter({ hasText: 'prefix must be' }).waitFor();
      expect(await findingsOf(page)).toEqual([]);
      await form.getByRole('button', { name: 'Cancel' }).click();
    });

    it('are ordered by the keyboard, by buttons and by dragging', async () => {
      const page = await stage.signedIn('/routes');
      expect(await priorities()).toEqual(['AAA', 'BBB', 'CCC']);
      await rowOf(page, 'AAA')
        .getByRole('button', { name: /^Order of/ })
        .focus();
      await page.keyboard.press('ArrowDown');
      await until('AAA is second', SOON_MS, async () => String(await priorities()) === 'BBB,AAA,CCC');
      await expect
        .poll(() =>
          page
            .getByRole('row')
            .allInnerTexts()
            .then((rows) => rows.findIndex((row) => row.includes('AAA'))),
        )
        .toBe(2);
      await rowOf(page, 'CCC')
        .getByRole('button', { name: /^Try .* earlier$/ })
        .click();
      await until('CCC is second', SOON_MS, async () => String(await priorities()) === 'BBB,CCC,AAA');
      await expect
        .poll(() =>
          page
            .getByRole('row')
            .allInnerTexts()
            .then((rows) => rows.findIndex((row) => row.includes('CCC'))),
        )
        .toBe(2);
      const from = await rowOf(page, 'AAA')
        .getByRole('button', { name: /^Order of/ })
        .boundingBox();
      const to = await rowOf(page, 'BBB').boundingBox();
      if (from === null || to === null) throw new Error('the rows are shown');
      await page.mouse.move(from.x + 10, from.y + 10);
      await page.mouse.down();
      await page.mouse.move(to.x + 200, to.y + 10, { steps: 5 });
      await page.locator('tr[data-state="target"]').filter({ hasText: 'BBB' }).waitFor();
      await page.mouse.up();
      await until('AAA is first', SOON_MS, async () => String(await priorities()) === 'AAA,BBB,CCC');
    });

    it('go after a question', async () => {
      const page = await stage.signedIn('/routes');
      await rowOf(page, 'CCC')
        .getByRole('button', { name: /^Delete/ })
        .click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('The route +4420 is deleted.').waitFor();
      await until('it is gone', SOON_MS, async () => String(await priorities()) === 'AAA,BBB');
    });
  });

  it('numbers are added, edited and deleted', async () => {
    const page = await stage.signedIn('/numbers');
    const form = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Add a number' }).click();
    expect(await findingsOf(page)).toEqual([]);
    await form.locator('input[name="number"]').fill('+442071838750');
    await form.getByLabel('Countries').fill('gb, ie');
    await form.getByRole('button', { name: 'Add' }).click();
    await rowOf(page, '+442071838750').getByText('GB, IE').waitFor();
    await rowOf(page, '+442071838750').getByRole('button', { name: 'Edit' }).click();
    await form.getByLabel('Countries').fill('GB');
    await form.getByRole('button', { name: 'Save' }).click();
    await rowOf(page, '+442071838750').getByText('GB', { exact: true }).waitFor();
    await rowOf(page, '+442071838750').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('+442071838750 is deleted.').waitFor();
  });

  it('systems are created with a password that is shown once, edited and disabled', async () => {
    const page = await stage.signedIn('/systems');
    const form = page.getByRole('dialog');
    await page.getByText(HOSTILE.slice(0, 30), { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create a system' }).click();
    expect(await findingsOf(page)).toEqual([]);
    await form.getByLabel('system_id').fill('west');
    await form.getByLabel('Carrier').fill('west');
    await form.getByLabel('Allowed networks').fill('127.0.0.1');
    await form.getByRole('button', { name: 'Create' }).click();
    const password = await form.locator('code').innerText({ timeout: SOON_MS });
    expect(password).toMatch(/^[A-Za-z0-9]{8}$/);
    await form.getByRole('button', { name: 'Done' }).click();
    // A closed dialog has no role; its element is removed a moment later.
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(password);
    expect(await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage])')).not.toContain(password);
    await page.getByRole('button', { name: 'Edit west' }).click();
    await form.getByLabel('Connections').fill('9');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('0 of 9').waitFor();
    await page.getByRole('button', { name: 'Disable west' }).click();
    await page.getByRole('button', { name: 'Enable west' }).waitFor();
  });

  describe('the guard', () => {
    it('says what it refuses and why, and releases a block', async () => {
      const page = await stage.signedIn('/guard');
      const rules = page.getByRole('region', { name: 'Rules and blocks' });
      await rules.getByText(HOSTILE, { exact: true }).waitFor();
      await page.getByRole('region', { name: 'Refused codes' }).getByText('it looks like pumping').waitFor();
      await page.getByRole('region', { name: 'Budgets' }).getByRole('meter').first().waitFor();
      await rules.getByRole('button', { name: 'Release +4412345' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
      await page.getByText('Codes may go to +4412345 again.').waitFor();
      await rules.getByText('the guard', { exact: true }).waitFor({ state: 'detached' });
    });

    it('takes a rule from a refusal', async () => {
      const page = await stage.signedIn('/guard');
      await page.getByRole('button', { name: 'Add a rule for +4412345' }).click();
      const form = page.getByRole('dialog');
      expect(await findingsOf(page)).toEqual([]);
      expect(await form.getByLabel('Prefix').inputValue()).toBe('+4412345');
      await form.getByLabel('Note').fill('a customer called');
      await form.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByRole('region', { name: 'Rules and blocks' }).getByText('a customer called').waitFor();
    });
  });

  describe('webhooks', () => {
    it('are found by status, and shown with attempts and a redacted body', async () => {
      const page = await stage.signedIn('/webhooks');
      await page.getByLabel('Status').selectOption('pending');
      await page.getByRole('button', { name: 'Search' }).click();
      await page.waitForURL(/status=pending/);
      await page.getByRole('link', { name: 'verification.completed' }).click();
      await title(page, 'verification.completed');
      const body = page.getByRole('region', { name: 'Body', exact: true }).last();
      await body.getByText('[redacted]').first().waitFor();
      expect(await body.innerText()).toContain('onerror=console.error(1)');
      expect(await body.innerText()).not.toContain('+14155552671');
      await page.getByText('ECONNREFUSED').first().waitFor();
    });

    it('are sent again, which the audit log records', async () => {
      const page = await stage.signedIn(`/webhooks/${stage.deliveryId}`);
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByText('One more attempt is made now.').waitFor();
      const notes = await stage.admin.notes(stage.deliveryId);
      expect(notes.map(({ action }) => action)).toContain('retry');
    });
  });

  it('have no acts for a viewer', async () => {
    const viewer = await stage.admin.colleague('viewer', 'a viewer of pages');
    const page = await stage.signedIn('/routes', {}, viewer.key);
    for (const [path, name] of [
      ['/routes', 'Routes'],
      ['/numbers', 'Numbers'],
      ['/systems', 'Systems'],
      ['/guard', 'Guard'],
      [`/webhooks/${stage.deliveryId}`, 'verification.completed'],
    ] as const) {
      await page.goto(`${stage.harness.baseUrl}/console${path}`);
      await title(page, name);
      await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
      expect(
        await page.getByRole('button', { name: /^(Add|Create|Edit|Delete|Release|Disable|Send again)/ }).count(),
      ).toBe(0);
    }
    expect(await page.content()).not.toContain('+14155552671');
  });

  it('are as wide as a narrow screen, with an open form', async () => {
    const page = await stage.signedIn('/routes', { viewport: NARROW, colorScheme: 'dark' });
    await page.getByRole('button', { name: 'Create a route' }).click();
    await page.getByRole('dialog').getByLabel('Prefix').waitFor();
    expect(await findingsOf(page)).toEqual([]);
    expect(await isTooWide(page)).toBe(false);
  });
});
