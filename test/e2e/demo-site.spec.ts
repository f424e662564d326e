import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import type { Browser, BrowserContext, FrameLocator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chromiumIsMissing, openBrowser } from '../support/browser.js';
import { CARD_WAIT, freePorts, Launcher, type Ports, ROOT, type Stack, temporaryFolder } from '../support/stack.js';
import { until } from '../support/until.js';

const READY_MS = 120_000;
/** A create may wait some seconds for a card, and tests share their machine. */
const SOON_MS = 30_000;
const CARD_TRIES = 5;
const DESKTOP = { width: 1280, height: 900 };
const HAND = { width: 390, height: 844 };

interface Shown {
  readonly data: readonly { readonly text: string }[];
}

describe.skipIf(chromiumIsMissing)('the demo site', () => {
  const data = temporaryFolder();
  let stack: Stack;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  /** Errors of the page's console and violations of its policy. */
  let complaints: string[];
  /** The bodies of the shop server's answers, for a check after the page has read them. */
  let bodies: Promise<string>[];
  let phones = 0;

  /** A new number for each test, because cards and codes are counted by number. */
  const nextPhone = (): string => `+1415555${String(3_100 + (phones += 1))}`;
  const heading = (name: string) => page.getByRole('heading', { level: 2, name, exact: true });
  const sees = (name: string): Promise<void> => heading(name).waitFor({ timeout: SOON_MS });
  const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
  const thePhone = (): FrameLocator => page.frameLocator('iframe[name="countersign-phone"]');
  const read = async (slot: string): Promise<string> =>
    (await page.locator(`[data-slot="${slot}"]:visible`).first().textContent()) ?? '';

  const open = async (viewport = DESKTOP): Promise<void> => {
    await context.close();
    complaints = [];
    bodies = [];
    context = await browser.newContext({ viewport, reducedMotion: 'reduce' });
    page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        complaints.push(message.text());
    });
    page.on('response', (response) => {
      if (!response.url().includes('/demo/api/') || response.url().endsWith('/events')) return;
      bodies.push(response.text().catch(() => ''));
    });
    await page.goto(`${stack.simulatorUrl}/demo/`);
    await sees('Sign in');
  };

  /** Fills in the form and submits it. */
  const signIn = async (phone: string, profile: 'Takes cards' | 'SMS only' | 'As it is set'): Promise<void> => {
    await page.getByLabel('Phone number').fill(phone);
    await page.getByRole('radio', { name: profile }).check();
    await press('Continue');
  };
  /** Repeats until a card has arrived: on a busy machine a card may be late, and the shop then asks for an SMS. */
  const signInByCard = async (): Promise<void> => {
    const asked = heading('Check your phone');
    for (let tries = 1; ; tries++) {
      await signIn(nextPhone(), 'Takes cards');
      await asked.or(heading('Text us to sign in')).waitFor({ timeout: SOON_MS });
      if (await asked.isVisible()) return;
      if (tries === CARD_TRIES) throw new Error(`no card of ${CARD_TRIES} arrived in time`);
      await open();
    }
  };
  const tapCard = async (button: string): Promise<void> => {
    await thePhone().locator('.thread', { hasText: 'Acme' }).first().click();
    await thePhone().getByRole('button', { name: button, exact: true }).click();
  };
  const smsTo = async (phone: string): Promise<string[]> => {
    const { body } = await stack.simulator('GET', `/_admin/sms?phone=${encodeURIComponent(phone)}`);
    return (body as unknown as Shown).data.map(({ text }) => text);
  };
  const codeSentTo = async (phone: string): Promise<string> => {
    await until('a code arrives', SOON_MS, async () => (await smsTo(phone)).length > 0);
    return /^\d{6}/.exec((await smsTo(phone)).at(-1) ?? '')?.[0] ?? '';
  };
  /** The id in the storage of this tab. */
  const keptId = async (): Promise<string> =>
    page.evaluate<string>('JSON.parse(sessionStorage.getItem("acme-login")).id');

  beforeAll(async () => {
    const ports = await freePorts();
    stack = await Launcher.start({ dataDir: data.folder, ports, environment: CARD_WAIT, by: 'npm' }).ready(READY_MS);
    browser = await openBrowser();
    context = await browser.newContext();
  }, READY_MS + 30_000);

  afterAll(async () => {
    await browser.close();
    await stack.stop();
    data.remove();
  });

  beforeEach(async () => open());

  afterEach(() => {
    expect(complaints).toEqual([]);
  });

  it('signs in by a card that is approved', async () => {
    await signInByCard();
    await tapCard('Approve');
    await sees('Welcome in');
    expect(await read('proof')).toMatch(/^You approved the card, \d+\.\d seconds after you asked$/);
    expect(await page.locator('[data-story][data-done]').count()).toBe(4);
  });

  it('says so when the card is denied, and begins anew', async () => {
    await signInByCard();
    await tapCard('Deny');
    await sees('You said no');
    await press('Try again');
    await sees('Sign in');
  });

  it('signs in by a text that the phone sends', async () => {
    await signIn(nextPhone(), 'SMS only');
    await sees('Text us to sign in');
    expect(await read('number')).toBe(stack.quickstart.inboundNumber);
    expect(await read('text')).toMatch(new RegExp(`^AUTH-${stack.quickstart.brandSlug}-[0-9A-HJKMNP-TV-Z]{16}\\n`));
    expect(await page.getByRole('img', { name: /^QR code/ }).isVisible()).toBe(true);
    await until('the QR code is drawn', SOON_MS, () =>
      page.evaluate<boolean>('document.querySelector("[data-slot=qr]").naturalWidth > 0'),
    );

    await page.getByRole('link', { name: 'Use the simulated phone' }).click();
    await thePhone().getByRole('button', { name: 'Send', exact: true }).click();
    await sees('Welcome in');
    expect(await read('proof')).toMatch(/^Your text arrived/);
  });

  it('signs in by a code, after a wrong one', async () => {
    const phone = nextPhone();
    await signIn(phone, 'SMS only');
    await sees('Text us to sign in');
    await press('Get a code instead');
    await sees('Enter the code');
    const code = await codeSentTo(phone);
    expect(await page.getByRole('button', { name: /^Another code in \d+ s$/ }).isDisabled()).toBe(true);

    // The sixth digit submits the code.
    await page.getByRole('textbox', { name: 'Code' }).pressSequentially(code === '000000' ? '000001' : '000000');
    await page.getByRole('alert').filter({ hasText: '4 attempts are left' }).waitFor({ timeout: SOON_MS });
    await page.getByRole('textbox', { name: 'Code' }).pressSequentially(code);
    await sees('Welcome in');
    expect(await read('proof')).toMatch(/^Your code was right/);
  });

  it('goes from the card to the code, or to the text, where no card is seen', async () => {
    await signInByCard();
    await press('Get a code');
    await sees('Enter the code');
    await press('Back');
    await sees('Check your phone');
    await press('Text us instead');
    await sees('Text us to sign in');
  });

  it('shows the number to pick, where the brand matches numbers', async () => {
    const { adminKey, brandId } = stack.quickstart;
    const brand = (matching: boolean) =>
      stack.api('PATCH', `/v1/admin/brands/${brandId}`, { rcsNumberMatching: matching }, { key: adminKey });
    expect((await brand(true)).status).toBe(200);
    try {
      // The brand is cached for up to 3 s.
      await until('a number to pick', SOON_MS * 2, async () => {
        await open();
        await signInByCard();
        return page.locator('output:visible').isVisible();
      });
      const number = await read('matchCode');
      expect(number).toMatch(/^[1-9]\d$/);
      await tapCard(number);
      await sees('Welcome in');
    } finally {
      await brand(false);
    }
  });

  it('works by keyboard alone, and takes the focus along', async () => {
    await page.getByLabel('Phone number').fill(nextPhone());
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await sees('Text us to sign in');
    const focused = (): Promise<unknown> => page.evaluate('document.activeElement.id');
    expect(await focused()).toBe('text-title');
    await page.getByRole('button', { name: 'Get a code instead' }).focus();
    await page.keyboard.press('Enter');
    await sees('Enter the code');
    expect(await focused()).toBe('code');
  });

  it('finds its sign-in again after the phone threw the page away', async () => {
    await signIn(nextPhone(), 'SMS only');
    await sees('Text us to sign in');
    const text = await read('text');
    await page.reload();
    await sees('Text us to sign in');
    expect(await read('text')).toBe(text);
  });

  it('tells what nobody told it by a webhook: it asks', async () => {
    const phone = nextPhone();
    await signIn(phone, 'SMS only');
    await sees('Text us to sign in');
    const { body } = await stack.api('GET', `/v1/verify?phone=${encodeURIComponent(phone)}`);
    const [session] = body['data'] as { id: string }[];
    await stack.api('DELETE', `/v1/verify/${session?.id ?? ''}`);
    await sees('Cancelled');
  });

  it('lets nobody in who has not the secret', async () => {
    const phone = nextPhone();
    await signIn(phone, 'SMS only');
    await sees('Text us to sign in');
    const id = await keptId();
    // The page is left before the approval, so that it does not sign in by itself.
    const text = await read('text');
    await page.goto('about:blank');
    await stack.simulator('POST', '/_admin/sms', { from: phone, to: stack.quickstart.inboundNumber, text });
    const entered = await stack.simulator('POST', `/demo/api/logins/${id}/enter`, { secret: 'f'.repeat(64) });
    expect(entered).toMatchObject({ status: 403, body: { problem: { code: 'OTHER_BROWSER' } } });
  });

  it('gives the browser no key, no id of a session and nothing to derive keys from', async () => {
    await signInByCard();
    await tapCard('Approve');
    await sees('Welcome in');
    const { apiKey, webhookSecret, adminKey } = stack.quickstart;
    const texts = (await Promise.all(bodies)).filter((text) => text !== '');
    expect(texts.length).toBeGreaterThan(2);
    for (const secret of [apiKey, webhookSecret, adminKey, 'sess_', 'authEntropy', 'e2eeKeyShare']) {
      expect(texts.filter((text) => text.includes(secret))).toEqual([]);
    }
  });

  it('keeps who is signed in over a reload, and lets them out', async () => {
    await signInByCard();
    await tapCard('Approve');
    await sees('Welcome in');
    await page.reload();
    await sees('Welcome in');
    await press('Sign out, try another way');
    await sees('Sign in');
    await page.reload();
    await sees('Sign in');
  });

  it('says what is wrong with a number', async () => {
    await signIn('12', 'As it is set');
    await page.getByRole('alert').filter({ hasText: 'That is not a phone number' }).waitFor();
    await signIn('+1 000 000 0000', 'As it is set');
    await page.getByRole('alert').filter({ hasText: 'That number cannot be used' }).waitFor({ timeout: SOON_MS });
    expect(await page.getByLabel('Phone number').getAttribute('aria-invalid')).toBe('true');
  });

  it('fits a phone in the hand, where the link opens its messages', async () => {
    await open(HAND);
    await signIn(nextPhone(), 'SMS only');
    await sees('Text us to sign in');
    const link = page.getByRole('link', { name: 'Open Messages' });
    expect(await link.getAttribute('href')).toMatch(/^sms:\+\d+\?body=AUTH-/);
    expect(await page.locator('iframe').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });
});

describe.skipIf(chromiumIsMissing)('the demo site of a simulator that was started alone', () => {
  let ports: Ports;
  let simulator: ChildProcess;
  let browser: Browser;

  beforeAll(async () => {
    ports = await freePorts();
    simulator = spawn(process.execPath, [path.join(ROOT, 'dist/apps/simulator/src/main.js')], {
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'],
        SIMULATOR_HTTP_PORT: String(ports.SIMULATOR_HTTP_PORT),
        SIMULATOR_SMPP_PORT: String(ports.SIMULATOR_SMPP_PORT),
        SIMULATOR_SYSTEM_ID: 'simulator',
        SIMULATOR_PASSWORD: 'secret08',
      },
    });
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser.close();
    simulator.kill('SIGTERM');
  });

  it('says how to open the shop', async () => {
    const url = `http://127.0.0.1:${ports.SIMULATOR_HTTP_PORT}`;
    await until('the simulator is up', READY_MS, async () =>
      fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const page = await browser.newPage();
    await page.goto(`${url}/demo/`);
    await page.getByRole('heading', { name: 'The shop is not open yet' }).waitFor();
    expect(await page.getByText('npm start', { exact: true }).isVisible()).toBe(true);
  });
});
