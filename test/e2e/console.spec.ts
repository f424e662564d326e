import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { parseId } from '@countersign/ids';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../config/stack/prepare.mjs';
import { dataOf, idOf } from '../support/admin-calls.js';
import { chromiumIsMissing } from '../support/browser.js';
import { ConsoleStage, DESKTOP, findingsOf, HOSTILE, isTooWide, NARROW } from '../support/console-stage.js';
import { until } from '../support/until.js';

const SOON_MS = 60_000;
/** Octets of the first view, compressed. */
const MAX_FIRST_VIEW = 150_000;
/** Rows that fit the window, and the rows kept above and below it. */
const MAX_ROWS_SHOWN = 80;

describe.skipIf(chromiumIsMissing)('the console', () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });
  afterAll(() => stage.close());
  afterEach(() => expect(stage.complaints).toEqual([]));

  const title = (page: Page, name: string): Promise<void> =>
    page.getByRole('heading', { level: 1, name, exact: true }).waitFor({ timeout: SOON_MS });

  describe('is served', () => {
    it('with a strict policy, and its assets for ever', async () => {
      const { harness } = stage;
      const { headers, text } = await harness.call('/console/binds', { key: null });
      expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect([headers['content-type'], headers['cache-control']]).toEqual(['text/html; charset=utf-8', 'no-cache']);
      expect(text).not.toMatch(/<script(?![^>]*src=)|<style|style=/);
      const [asset = ''] = /\/console\/assets\/[\w.-]+\.js/.exec(text) ?? [];
      const answer = await harness.call(asset, { key: null });
      expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect((await harness.call('/console/assets/unknown.js', { key: null })).code).toBe('NOT_FOUND');
      expect((await harness.call('/console/api/v1/nothing', { key: null })).code).toBe('UNAUTHORIZED');
    });

    it('with a first view of under 150 kB', async () => {
      const page = await stage.visit('/sign-in');
      await page.getByLabel('Admin key').waitFor();
      const loaded = await page.evaluate<string[]>("performance.getEntriesByType('resource').map(({ name }) => name)");
      const own = loaded.filter((each) => each.includes('/console/assets/'));
      expect(own.length).toBeGreaterThan(2);
      const sizes = own.map(
        (each) => gzipSync(readFileSync(path.join(ROOT, 'dist/console/assets', path.basename(each)))).length,
      );
      expect(sizes.reduce((sum, each) => sum + each, 0)).toBeLessThan(MAX_FIRST_VIEW);
    });
  });

  describe('the sign-in', () => {
    it('says what is wrong with a wrong key, and returns to the page that was asked for', async () => {
      const page = await stage.visit('/gateways');
      await page.getByLabel('Admin key').fill('csk_admin_wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('This key is not valid here.').waitFor();
      expect(await findingsOf(page)).toEqual([]);
      await page.getByLabel('Admin key').fill(stage.admin.key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await title(page, 'Gateways');
      expect(await page.evaluate<string[]>('Object.keys(localStorage)')).toEqual([]);
    });

    it('ends with the sign-out, and by the server', async () => {
      const page = await stage.signedIn('/binds');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await title(page, 'Sign in');
      await page.goto(`${stage.harness.baseUrl}/console/binds`);
      await title(page, 'Sign in');
      await page.getByLabel('Admin key').fill(stage.admin.key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await title(page, 'Binds');
      await stage.harness.database.query('DELETE FROM console_sessions');
      await title(page, 'Sign in');
    });
  });

  describe('while the server is not ready', () => {
    /** Answers the calls of a path with 503 until the function that is returned was called. */
    async function refuse(page: Page, path: string): Promise<() => void> {
      let isReady = false;
      await page.route(`**/console/api/${path}`, (route) =>
        isReady ? route.continue() : route.fulfill({ status: 503, json: {} }),
      );
      return () => (isReady = true);
    }

    it('has the form of the key without the ways to sign in, and asks for them again', async () => {
      let recover = (): void => undefined;
      const before = async (page: Page): Promise<void> => void (recover = await refuse(page, 'sign-in/ways'));
      const page = await stage.visit('/sign-in', { before });
      await page.getByLabel('Admin key').fill(stage.admin.key, { timeout: SOON_MS });
      const notice = page.getByRole('alert').filter({ hasText: 'Sign in with a key, or ask again.' });
      await notice.waitFor({ timeout: SOON_MS });
      expect(await findingsOf(page)).toEqual([]);
      recover();
      await page.getByRole('button', { name: 'Ask again' }).click();
      await notice.waitFor({ state: 'detached', timeout: SOON_MS });
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('navigation').first().waitFor({ timeout: SOON_MS });
    });

    it('says so, and opens the page by itself when the server is back', async () => {
      let recover = (): void => undefined;
      const before = async (page: Page): Promise<void> => void (recover = await refuse(page, 'me'));
      const page = await stage.visit('/gateways', { before });
      await page.getByText('The page tries again every 5 seconds.').waitFor({ timeout: SOON_MS });
      expect(await findingsOf(page)).toEqual([]);
      recover();
      await page.getByLabel('Admin key').waitFor({ timeout: SOON_MS });
      expect(new URL(page.url()).searchParams.get('next')).toBe('/gateways');
      // React writes each error that a page shows to the console.
      expect(stage.complaints.filter((text) => !text.includes('answered with the status 503'))).toEqual([]);
      stage.complaints.length = 0;
    });

    it('asks it even when the browser says that it is offline', async () => {
      const page = await stage.signedIn('/binds');
      await title(page, 'Binds');
      await page.evaluate("dispatchEvent(new Event('offline'))");
      await page.getByRole('link', { name: 'Queues' }).click();
      await page.getByRole('listitem').filter({ hasText: 'Codes' }).waitFor({ timeout: SOON_MS });
    });
  });

  it('is used by the keyboard: commands, pages, theme', async () => {
    const page = await stage.signedIn('/binds');
    await title(page, 'Binds');
    await page.keyboard.press('Control+k');
    await page.getByLabel('Find a page, a phone or an id').fill('queu');
    expect(await findingsOf(page)).toEqual([]);
    await page.getByRole('menuitem', { name: 'Queues' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console/queues');
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await title(page, 'Binds');
    await page.getByRole('button', { name: 'Theme: as the system' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    expect(await page.evaluate<string>('getComputedStyle(document.body).colorScheme')).toBe('dark');
  });

  describe('the page of binds', () => {
    it('shows states live, while a carrier dies and comes back', async () => {
      const page = await stage.signedIn('/binds');
      const card = page.getByRole('listitem').filter({ hasText: 'north 1' });
      await card.getByText('bound', { exact: true }).waitFor({ timeout: SOON_MS });
      stage.carrier.authenticate = () => 0x0d;
      stage.carrier.drop();
      await card.getByText('unbound', { exact: true }).waitFor({ timeout: SOON_MS });
      await card
        .getByText(/ESME_RBINDFAIL/)
        .first()
        .waitFor({ timeout: SOON_MS });
      stage.carrier.authenticate = () => 0;
      await card.getByText('bound', { exact: true }).waitFor({ timeout: 60_000 });
    });

    it('drains a bind after a question, and enables it', async () => {
      const page = await stage.signedIn('/binds');
      const card = page.getByRole('listitem').filter({ hasText: 'north 1' });
      await card.getByRole('button', { name: 'Drain' }).click();
      const dialog = page.getByRole('dialog', { name: 'Drain north 1?' });
      expect(await findingsOf(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await card.getByRole('button', { name: 'Drain' }).click();
      await dialog.getByRole('button', { name: 'Drain' }).click();
      await page.getByText('north 1 drains, then stays disabled.').waitFor();
      await card.getByText('disabled', { exact: true }).waitFor({ timeout: SOON_MS });
      await card.getByRole('button', { name: 'Enable' }).click();
      await until('it is bound again', SOON_MS, () => Promise.resolve(stage.carrier.links === 2));
    });

    it('leads to a bind with its connections and its PDUs', async () => {
      const page = await stage.signedIn('/binds');
      await page.getByRole('link', { name: 'north 1' }).click();
      await title(page, 'north 1');
      await page.getByRole('button', { name: 'Show the last PDUs' }).click();
      await page.getByText('bind_transceiver', { exact: true }).first().click();
      await page.getByText('"systemId": "acme"').first().waitFor();
      expect(await findingsOf(page)).toEqual([]);
    });

    it('has no acts for a viewer', async () => {
      const viewer = await stage.admin.colleague('viewer', 'a viewer');
      const page = await stage.signedIn('/binds', {}, viewer.key);
      await page.getByRole('link', { name: 'north 1' }).waitFor();
      expect(await page.getByRole('button', { name: 'Drain' }).count()).toBe(0);
    });
  });

  it('finds a session by its phone, and shows its timeline', async () => {
    const page = await stage.signedIn('/sessions');
    await page.getByLabel('Phone or session id').fill('+14155552671');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(/phone=/);
    await page.getByRole('link', { name: '+141' }).first().click();
    await title(page, 'Session');
    await page.locator('.timeline > li').nth(1).waitFor();
    await page.getByText(HOSTILE, { exact: false }).first().waitFor();
    expect(await page.getByText('+14155552671', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show the phone number' }).click();
    await page.getByText('+14155552671', { exact: true }).waitFor();
  });

  it('reveals the text of a message, which the audit log records', async () => {
    const page = await stage.signedIn('/messages');
    await page.getByRole('link', { name: '→ to' }).first().click();
    await page.getByRole('button', { name: 'Reveal the text' }).click();
    await page.locator('p.json').waitFor();
    await page.goto(`${stage.harness.baseUrl}/console/audit?resource=messages`);
    await page.getByText('reveal messages').first().waitFor();
  });

  describe('keeps texts of strangers texts', () => {
    /** Nothing is masked in it, and it has no space: it may be an id in a receipt. */
    const HOSTILE_ID = '<img/src=x/onerror=console.error(3)>';
    const HOSTILE_SENDER = '<img src=x onerror=1';

    it('the text and the sender of an SMS, which came over SMPP', async () => {
      await stage.gateway.system({ systemId: 'phones' });
      const esme = await stage.gateway.esme('phones');
      const [number] = dataOf(await stage.admin.get('inbound-numbers'));
      const answer = await esme.send('submit_sm', {
        ...{ source_addr_ton: 5, source_addr_npi: 0, source_addr: HOSTILE_SENDER },
        ...{ dest_addr_ton: 1, dest_addr_npi: 1, destination_addr: String(number?.['number']).slice(1) },
        short_message: HOSTILE,
      });
      expect(answer.command_status).toBe(0);
      const page = await stage.signedIn('/messages?direction=in');
      await page.getByRole('link', { name: '← from <img' }).first().click();
      await title(page, 'Message');
      await page.getByRole('button', { name: 'Reveal the text' }).click();
      await page.getByText(HOSTILE, { exact: true }).waitFor({ timeout: SOON_MS });
    });

    it('the id and the error that a carrier gives a code, in the message, its session and the capture', async () => {
      const { harness, carrier } = stage;
      carrier.script.push(() => ({ message_id: HOSTILE_ID }));
      const sessionId = idOf(await harness.create({ phone: '+14155552688' }));
      await harness.call(`/v1/verify/${sessionId}/send-sms`, { method: 'POST' });
      await until('the code was accepted', SOON_MS, async () => {
        const [message] = dataOf(await stage.admin.get(`messages?sessionId=${sessionId}`));
        return message?.['fate'] === 'submitted';
      });
      await carrier.sendReceipt(HOSTILE_ID, 'UNDELIV', HOSTILE_ID);
      const page = await stage.signedIn(`/messages?sessionId=${sessionId}`);
      await page.getByRole('link', { name: '→ to' }).first().click();
      await title(page, 'Message');
      await page.getByText(HOSTILE_ID, { exact: true }).first().waitFor({ timeout: SOON_MS });
      await page.getByRole('link', { name: 'Session of this message' }).click();
      await title(page, 'Session');
      await page.getByText(HOSTILE_ID, { exact: false }).first().waitFor({ state: 'attached', timeout: SOON_MS });
      await page.goto(`${harness.baseUrl}/console/binds/${stage.bindId}`);
      await page.getByRole('button', { name: 'Show the last PDUs' }).click();
      await page.getByText('submit_sm_resp', { exact: true }).first().click();
      await page.getByText(HOSTILE_ID, { exact: false }).first().waitFor({ state: 'attached', timeout: SOON_MS });
    });
  });

  it('shows which way a code would go, and why', async () => {
    const page = await stage.signedIn('/routes');
    await page.getByLabel('Phone').fill('+14155552671');
    await page.getByRole('button', { name: 'Search' }).click();
    const table = page.getByRole('table', { name: 'Routes that match' });
    await table.getByText('north 1').waitFor();
    await table.getByText('chosen').waitFor();
  });

  it('pauses and resumes a queue', async () => {
    const page = await stage.signedIn('/queues');
    const card = page.getByRole('listitem').filter({ hasText: 'Codes' });
    await card.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await card.getByText('paused', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Resume' }).click();
    await card.getByText('running', { exact: true }).waitFor();
  });

  it('shows the gateway that holds the connections', async () => {
    const page = await stage.signedIn('/gateways');
    await page.getByText('running', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'north 1' }).first().waitFor();
  });

  it('adds a member, and deactivates it', async () => {
    const page = await stage.signedIn('/members');
    await page.getByText(HOSTILE.slice(0, 60), { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Add a member' }).click();
    const form = page.getByRole('dialog');
    expect(await findingsOf(page)).toEqual([]);
    await form.getByLabel('Name').fill('Bob Ray');
    await form.getByLabel('Role').selectOption('operator');
    await form.getByLabel('Email').fill('bob');
    await form.getByRole('button', { name: 'Add' }).click();
    await form.getByRole('alert').waitFor();
    await form.getByLabel('Email').fill('bob@example.com');
    await form.getByRole('button', { name: 'Add' }).click();
    await page.getByText('Bob Ray is a member, with the role operator.').waitFor();
    await page.getByRole('button', { name: 'Deactivate Bob Ray' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
    await page.getByRole('button', { name: 'Activate Bob Ray' }).waitFor();
  });

  describe.each([
    ['light', DESKTOP],
    ['dark', DESKTOP],
    ['light', NARROW],
    ['dark', NARROW],
  ] as const)('in the %s theme at %o', (colorScheme, viewport) => {
    it('has no finding of axe, and is not wider than the screen', async () => {
      const page = await stage.signedIn('/binds', { colorScheme, viewport });
      const pages = [
        '/overview',
        '/binds',
        `/binds/${stage.bindId}`,
        '/sessions',
        `/sessions/${stage.sessionId}`,
        '/messages',
        `/messages/${stage.messageId}`,
        '/routes?phone=%2B14155552671',
        '/numbers',
        '/systems',
        '/guard',
        '/webhooks',
        `/webhooks/${stage.deliveryId}`,
        '/queues',
        '/gateways',
        '/audit',
        '/members',
        '/nothing',
      ];
      const found: string[] = [];
      for (const each of pages) {
        await page.goto(`${stage.harness.baseUrl}/console${each}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
        for (const finding of await findingsOf(page)) found.push(`${each}: ${finding}`);
        if (await isTooWide(page)) found.push(`${each} is too wide`);
        if (process.env['PICTURES'] !== undefined) {
          const name = `${each
            .slice(1)
            .replaceAll(/_\w+|\?.*/g, '')
            .replaceAll('/', '-')}-${colorScheme}-${String(viewport.width)}.png`;
          await page.screenshot({ path: path.join(process.env['PICTURES'], name), fullPage: true });
        }
      }
      expect(found).toEqual([]);
    }, 600_000);
  });

  it('scrolls through a table of 100,000 rows: it loads pages, and keeps few rows in the document', async () => {
    const { database, demo } = stage.harness;
    const [accountId, sessionId] = [parseId('acct', demo.accountId), parseId('sess', stage.sessionId)];
    const startMs = Date.now();
    // In parts, each shorter than the timeout of a statement.
    for (let first = 1; first <= 100_000; first += 5_000)
      await database.query(
        `INSERT INTO deliveries (id, account_id, session_id, type, url, status, occurred_at)
         SELECT (lpad(to_hex($1::bigint + n), 12, '0') || '70008000000000000000')::uuid, $2, $3, 'verification.completed',
           'https://acme.example/' || n, 'succeeded', clock_timestamp()
         FROM generate_series($4::integer, $4::integer + 4999) AS n`,
        [startMs, accountId, sessionId, first],
      );
    const page = await stage.signedIn('/webhooks');
    await page.getByText('https://acme.example/100000', { exact: true }).waitFor({ timeout: SOON_MS });
    // A busy page gets what its observers have seen late, and several entries at once.
    await page.evaluate(`{
      const Observer = IntersectionObserver;
      globalThis.IntersectionObserver = class extends Observer {
        constructor(callback, options) {
          const seen = [];
          const deliver = (observer) => seen.length > 0 && callback(seen.splice(0), observer);
          super((entries, observer) => {
            seen.push(...entries);
            setTimeout(deliver, 300, observer);
          }, options);
        }
      };
    }`);
    const showsFourPages = async (): Promise<boolean> => {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      expect(await page.locator('tr[data-row]').count()).toBeLessThan(MAX_ROWS_SHOWN);
      const last = await page.locator('tr[data-row]').last().getAttribute('aria-rowindex');
      return Number(last) > 400;
    };
    await until('the last row of four pages is shown', 2 * SOON_MS, showsFourPages);
    await page.evaluate('scrollTo(0, 0)');
    await page.getByText('https://acme.example/100000', { exact: true }).waitFor({ timeout: SOON_MS });
  });
});
