import { parseId } from '@countersign/ids';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { prepareConsole } from '../../config/stack/prepare.mjs';
import { AdminCalls, dataOf, idOf } from './admin-calls.js';
import { openBrowser } from './browser.js';
import { Carrier } from './carrier.js';
import { ControlPlaneHarness } from './control-plane-harness.js';
import { GatewayBeside } from './gateway-beside.js';
import { until } from './until.js';

const SOON_MS = 60_000;
/** The first page of a browser and of a server. */
const FIRST_PAGE_MS = 90_000;
const SESSION_COOKIE = '__Host-countersign';
export const DESKTOP = { width: 1280, height: 900 };
export const NARROW = { width: 360, height: 760 };
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Messages of the browser about requests that the server refused, or that the page gave up: its session ended, or it was left. */
const REFUSED_REQUEST = /^(Failed to load resource|WebSocket connection to \S+ failed)/;

/** Would run if any part of it became HTML. */
export const HOSTILE = '<img src=x onerror=console.error(1)><script>console.error(2)</script>';
const REPORT_VIOLATIONS = {
  content:
    "addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))",
};

interface Look {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
  /** Called with the page before its first request. */
  readonly before?: (page: Page) => Promise<unknown>;
}

/** The console in a browser: a control plane with its console, a gateway, a carrier with a bind, and Chromium. */
export class ConsoleStage {
  /** Errors of the pages and violations of their policy. */
  readonly complaints: string[] = [];
  sessionId = '';
  messageId = '';
  deliveryId = '';
  #context: BrowserContext | undefined;

  private constructor(
    readonly harness: ControlPlaneHarness,
    readonly admin: AdminCalls,
    readonly carrier: Carrier,
    readonly bindId: string,
    readonly gateway: GatewayBeside,
    private readonly browser: Browser,
  ) {}

  static async open(environment: Readonly<Record<string, string>> = {}): Promise<ConsoleStage> {
    await prepareConsole({ log: () => undefined });
    const harness = await ControlPlaneHarness.open({ REDIS_URL: '', ...environment });
    const admin = new AdminCalls(harness);
    const carrier = new Carrier('north');
    const hosts = [{ host: '127.0.0.1', port: await carrier.listen() }];
    const draft = { name: 'north 1', carrier: 'north', hosts, systemId: 'acme', password: 'secret08', connections: 2 };
    const bindId = idOf(await admin.post('binds', draft));
    const gateway = await GatewayBeside.start(harness);
    await until('the bind is bound', SOON_MS, () => Promise.resolve(carrier.links === 2));
    const stage = new ConsoleStage(harness, admin, carrier, bindId, gateway, await openBrowser());
    await stage.#seed();
    return stage;
  }

  /** Rows for every page, with texts of strangers that must stay texts. */
  async #seed(): Promise<void> {
    const { admin, harness, bindId } = this;
    await admin.post('routes', { prefix: '+', bindId, costUsd: '0.0079', sourceAddress: '60606' });
    await admin.patch(`brands/${harness.demo.brandId}`, { name: HOSTILE.slice(0, 30) });
    await admin.post('members', { name: HOSTILE.slice(0, 60), role: 'viewer', email: 'ann@example.com' });
    this.sessionId = idOf(await harness.create({ metadata: { note: HOSTILE, link: 'javascript:alert(1)' } }));
    await harness.call(`/v1/verify/${this.sessionId}/send-sms`, { method: 'POST' });
    await until('the code was submitted', SOON_MS, () => Promise.resolve(this.carrier.submits.length > 0));
    const [message] = dataOf(await admin.get(`messages?sessionId=${this.sessionId}`));
    this.messageId = String(message?.['id']);
    const system = await admin.post('smpp-systems', { systemId: 'stranger', carrier: HOSTILE.slice(0, 30) });
    const rule = await admin.post('destinations', { prefix: '+4479', action: 'block', reason: HOSTILE });
    if (system.status !== 201 || rule.status !== 201) throw new Error(`not created: ${system.text} ${rule.text}`);
    await this.#seedGuard();
    await this.#seedDelivery();
  }

  /** A block of the guard, and the refusals that led to it. */
  async #seedGuard(): Promise<void> {
    const { database, demo, clock } = this.harness;
    await database.query(
      `INSERT INTO destination_rules (id, account_id, prefix, action, reason, origin, until)
       VALUES ($1, $2, '+4412345', 'block', 'low conversion', 'guard', now() + interval '1 hour')`,
      [clock.newId(), parseId('acct', demo.accountId)],
    );
    await database.query(
      `INSERT INTO otp_refusals (id, account_id, hour, rule, prefix, refused, last_at)
       VALUES ($1, $2, date_trunc('hour', now()), 'breaker', '+4412345', 42, now())`,
      [clock.newId(), parseId('acct', demo.accountId)],
    );
  }

  /** A delivery to a port where nobody listens, with a hostile address and metadata. */
  async #seedDelivery(): Promise<void> {
    const { admin, harness } = this;
    const webhookUrl = `http://127.0.0.1:9/hook?note=${HOSTILE.replaceAll(' ', '/')}`;
    const sessionId = idOf(await harness.create({ webhookUrl, metadata: { note: HOSTILE } }));
    await harness.approve(sessionId);
    await until('the delivery was tried', SOON_MS, async () => {
      const [delivery] = dataOf(await admin.get(`deliveries?sessionId=${sessionId}`));
      this.deliveryId = String(delivery?.['id']);
      return Number(delivery?.['attemptsMade'] ?? 0) > 0;
    });
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.gateway.stop();
    await this.carrier.close();
    await this.harness.close();
  }

  /** A page of a browser without a session, or with the cookie of one. */
  async visit(path: string, look: Look = {}, cookie = ''): Promise<Page> {
    const { viewport = DESKTOP, colorScheme = 'light', before } = look;
    await this.#context?.close();
    this.complaints.length = 0;
    const options = { viewport, colorScheme, ignoreHTTPSErrors: true, reducedMotion: 'reduce' } as const;
    this.#context = await this.browser.newContext({ ...options, locale: 'en-US', timezoneId: 'Europe/Berlin' });
    if (cookie !== '') {
      const url = this.harness.baseUrl;
      await this.#context.addCookies([{ name: SESSION_COOKIE, value: cookie, url, secure: true, httpOnly: true }]);
    }
    const page = await this.#context.newPage();
    page.setDefaultTimeout(SOON_MS);
    await page.addInitScript(REPORT_VIOLATIONS);
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !REFUSED_REQUEST.test(message.text())) this.complaints.push(message.text());
    });
    await before?.(page);
    await page.goto(`${this.harness.baseUrl}/console${path}`);
    return page;
  }

  /** A page of somebody who signed in with that key, by the form. */
  async signedIn(path: string, look: Look = {}, key = this.admin.key): Promise<Page> {
    const page = await this.visit(path, look);
    await page.getByLabel('Admin key').fill(key, { timeout: FIRST_PAGE_MS });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor({ state: 'detached' });
    return page;
  }
}

/** The findings of axe on the page as it is shown, each with its elements. */
export async function findingsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const options = JSON.stringify({ runOnly: { type: 'tag', values: RULES } });
  const { violations: found } = await page.evaluate<AxeResults>(`axe.run(document, ${options})`);
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

/** Whether the page is wider than the window. */
export const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');
