import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chromiumIsMissing, openBrowser } from '../support/browser.js';
import { demoCard, INBOUND_NUMBER, SimulatorHarness } from '../support/simulator-harness.js';
import { until } from '../support/until.js';

const SHOWN_WITHIN_MS = 20_000;
const DESKTOP = { width: 1280, height: 900 };
const SMALL = { width: 390, height: 844 };
const TEXT = 'AUTH-ACME-0123456789ABCDEF\nSend this text unchanged to sign in to Acme.';
const URI = `sms:${INBOUND_NUMBER}?body=${encodeURIComponent(TEXT)}`;

let harness: SimulatorHarness;
let browser: Browser;
const contexts: BrowserContext[] = [];
/** Errors of the browser, violations of the policy included. */
const complaints: string[] = [];
let numbers = 0;

beforeAll(async () => {
  if (chromiumIsMissing) return;
  harness = await SimulatorHarness.open();
  await harness.bind();
  browser = await openBrowser();
});
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
  expect(complaints.splice(0)).toEqual([]);
});
afterAll(async () => {
  if (chromiumIsMissing) return;
  await browser.close();
  await harness.close();
});

/** A new number for each test. */
const newNumber = (): string => `+1415555${String(2000 + numbers++)}`;

async function open(address = '/phone/', viewport = DESKTOP): Promise<Page> {
  const context = await browser.newContext({ viewport, permissions: ['clipboard-read', 'clipboard-write'] });
  contexts.push(context);
  const page = await context.newPage();
  page.setDefaultTimeout(SHOWN_WITHIN_MS);
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // The page shows a refusal of the simulator; Chromium logs it as well.
    if (message.type() === 'error' && !message.text().includes('/_admin/')) complaints.push(message.text());
  });
  await page.goto(`${harness.url}${address}`);
  return page;
}

/** Opens a phone that has RCS and is online. */
async function openPhone(viewport = DESKTOP): Promise<{ page: Page; phone: string }> {
  const phone = newNumber();
  await harness.setPhone(phone, { reachable: true, online: true, deliverAfterMs: 0 });
  return { page: await open(`/phone/?phone=${encodeURIComponent(phone)}`, viewport), phone };
}

const conversation = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('list', { name: 'Conversations' }).getByRole('button', { name });

const answers = (page: Page): Locator => page.getByRole('group', { name: 'Answers' });

async function stateOf(phone: string): Promise<unknown> {
  const response = await fetch(`${harness.url}/_admin/cards?phone=${encodeURIComponent(phone)}`);
  const { data } = (await response.json()) as { data: { state: string; tapped: number | null }[] };
  return data.map(({ state, tapped }) => ({ state, tapped }));
}

const profileOf = async (phone: string): Promise<unknown> =>
  (await fetch(`${harness.url}/_admin/phones/${phone}`)).json();

describe.skipIf(chromiumIsMissing)('the phone in a browser', () => {
  it('asks for a number, and is on with RCS in one step', async () => {
    const page = await open();
    const phone = newNumber();
    await page.getByLabel('Its number').fill(phone);
    await page.getByRole('button', { name: 'Turn it on' }).click();
    await page.getByRole('heading', { name: 'No messages yet' }).waitFor();
    await page.getByRole('group', { name: 'Status bar' }).getByText('RCS is on').waitFor({ state: 'attached' });
    expect(await profileOf(phone)).toMatchObject({ reachable: true, online: true });
  });

  it('says what is wrong with a number', async () => {
    const page = await open();
    await page.getByLabel('Its number').fill('555 2671');
    await page.getByRole('button', { name: 'Turn it on' }).click();
    await page.getByRole('alert').getByText('with its country').waitFor();
  });

  it('shows a card with its brand, and the tapped choice as an answer', async () => {
    const { page, phone } = await openPhone();
    const card = demoCard(phone);
    await harness.sendCard(card);
    await conversation(page, /Acme verified Sign in to Acme\?/).click();
    const shown = page.getByRole('article', { name: 'Card from Acme' });
    await shown.getByRole('img', { name: 'verified' }).waitFor();
    await shown.getByText('If this was not you, tap Deny.').waitFor();
    // The banner no longer covers the back button.
    expect(await page.locator('.banner').count()).toBe(0);
    await until('the read event has arrived', SHOWN_WITHIN_MS, async () =>
      JSON.stringify(await stateOf(phone)).includes('"read"'),
    );
    await answers(page).getByRole('button', { name: 'Approve' }).click();
    await page.locator('.entry[data-kind=choice]').getByText('Approve').waitFor();
    expect(await answers(page).count()).toBe(0);
    expect(await stateOf(phone)).toEqual([{ state: 'tapped', tapped: 0 }]);
    await harness.closeCard(card, 'approve');
    await page.locator('.entry').getByText('You approved this sign-in to Acme.').waitFor();
  });

  it('offers numbers to match as large buttons, and Deny', async () => {
    const { page, phone } = await openPhone();
    await harness.sendCard(demoCard(phone, { numberMatching: true }), ['17', '42', '83', 'Deny']);
    await conversation(page, /Acme/).click();
    expect(await answers(page).getByRole('button').allTextContents()).toEqual(['17', '42', '83', 'Deny']);
    await answers(page).getByRole('button', { name: '42' }).click();
    await page.locator('.entry[data-kind=choice]').getByText('42').waitFor();
    expect(await stateOf(phone)).toEqual([{ state: 'tapped', tapped: 1 }]);
  });

  it('gets a waiting card when it comes online, and shows a withdrawn one as withdrawn', async () => {
    const { page, phone } = await openPhone();
    await page.getByRole('radio', { name: /RCS, no data/ }).check();
    await page.getByRole('group', { name: 'Status bar' }).getByText('RCS has no data').waitFor({ state: 'attached' });
    const withdrawn = demoCard(phone);
    await harness.sendCard(withdrawn);
    await page.getByText('1 message waits until this phone is online.').waitFor();
    await harness.revoke(withdrawn);
    await conversation(page, /A card was withdrawn/).waitFor();
    await harness.sendCard(demoCard(phone));
    await page.getByRole('button', { name: 'Go online' }).click();
    await conversation(page, /Sign in to Acme\?/).click();
    await page.getByText('Withdrawn by Acme before it arrived').waitFor();
    expect(await answers(page).count()).toBe(1);
    expect(await stateOf(phone)).toMatchObject([{ state: 'revoked' }, {}]);
  });

  it('shows a card that nobody answered in time as expired', async () => {
    const { page, phone } = await openPhone();
    const card = demoCard(phone);
    await harness.sendCard(card);
    await conversation(page, /Acme/).click();
    await answers(page).waitFor();
    await page.clock.setFixedTime(card.expiresAt);
    await page.getByText('This request has expired').waitFor();
    expect(await answers(page).count()).toBe(0);
  });

  it('shows an SMS live, as text alone, and copies its code', async () => {
    const { page, phone } = await openPhone();
    await harness.sendSms(phone, '048213 is your <img src=x onerror=alert(1)> code.');
    await conversation(page, /\+1 415 555 0199/).click();
    await page.getByText('048213 is your <img src=x onerror=alert(1)> code.').last().waitFor();
    // The confirmation is shown for a moment only.
    const copied = page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.getByRole('button', { name: 'Copy 048213' }).click();
    await copied;
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('048213');
  });

  it('answers an SMS by Enter', async () => {
    const { page, phone } = await openPhone();
    await harness.sendSms(phone, 'Hello');
    await conversation(page, /Hello/).click();
    await page.getByLabel('Message to +1 415 555 0199').fill('Hello yourself');
    await page.keyboard.press('Enter');
    await page.locator('.entry[data-mine]').getByText('Hello yourself').waitFor();
    expect(harness.received.at(-1)).toEqual({ from: phone, to: INBOUND_NUMBER, text: 'Hello yourself' });
  });
});

describe.skipIf(chromiumIsMissing)('a link that wants an SMS', () => {
  it('opens the sheet with everything written when another page leads here', async () => {
    const phone = newNumber();
    const page = await open(`/phone/?phone=${encodeURIComponent(phone)}#${URI}`);
    const sheet = page.getByRole('dialog', { name: 'New message' });
    expect(await sheet.getByLabel('To').inputValue()).toBe('+1 415 555 0199');
    expect(await sheet.getByLabel('Text').inputValue()).toBe(TEXT);
    await sheet.getByRole('button', { name: 'Send' }).click();
    await page.locator('.entry[data-mine]').getByText('AUTH-ACME-0123456789ABCDEF').waitFor();
    expect(harness.received.at(-1)).toEqual({ from: phone, to: INBOUND_NUMBER, text: TEXT });
    expect(new URL(page.url()).hash).toBe('');
  });

  it('opens it when the link is pasted', async () => {
    const { page } = await openPhone();
    await page.getByLabel('The link, a session’s fallbackUri').fill('https://example.com');
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByRole('alert').getByText('That is not an sms: link').waitFor();
    await page.getByLabel('The link, a session’s fallbackUri').fill(URI);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    expect(await page.getByRole('dialog').getByLabel('Text').inputValue()).toBe(TEXT);
  });

  it('keeps what was written when nobody takes it, and says why', async () => {
    const { page } = await openPhone();
    await page.evaluate(`location.hash = ${JSON.stringify(URI)}`);
    harness.commandStatus = 0x14;
    const sheet = page.getByRole('dialog', { name: 'New message' });
    await sheet.getByRole('button', { name: 'Send' }).click();
    await sheet.getByRole('alert').getByText('The service did not take it (status 0x14).').waitFor();
    harness.commandStatus = 0;
    expect(await sheet.getByLabel('Text').inputValue()).toBe(TEXT);
    await sheet.getByRole('button', { name: 'Send' }).click();
    await sheet.waitFor({ state: 'hidden' });
  });
});

describe.skipIf(chromiumIsMissing)('several numbers', () => {
  it('are tabs, and what arrives at another one is announced and counted', async () => {
    const { page, phone } = await openPhone();
    const other = newNumber();
    await page.getByLabel('Add a number').fill(other);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('tab', { selected: true, name: new RegExp(other.slice(-4)) }).waitFor();
    await harness.sendCard(demoCard(phone));
    await page.getByRole('tab', { name: /1 unread/ }).waitFor();
    await page.getByRole('status').getByText('Acme: Sign in to Acme?. Answers: Approve, Deny').waitFor();
    await page.locator('.banner').click();
    await page.getByRole('tab', { selected: true, name: new RegExp(phone.slice(-4)) }).waitFor();
    await answers(page).waitFor();
  });

  it('are remembered by this browser, and so is what was read', async () => {
    const { page, phone } = await openPhone();
    await harness.sendSms(phone, 'Hello');
    await conversation(page, /1 unread/).click();
    await page.getByText('Conversation by SMS').waitFor();
    await page.reload();
    await conversation(page, /Hello/).waitFor();
    expect(await conversation(page, /unread/).count()).toBe(0);
  });
});

describe.skipIf(chromiumIsMissing)('a person without a mouse', () => {
  it('opens a card, approves it and goes back by keys alone', async () => {
    const { page, phone } = await openPhone();
    await harness.sendSms(phone, 'Hello');
    await conversation(page, /Hello/).waitFor();
    await harness.sendCard(demoCard(phone));
    await conversation(page, /Acme/).focus();
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Hello');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    const approve = answers(page).getByRole('button', { name: 'Approve' });
    await approve.waitFor();
    const focused = page.locator('.card-actions button:focus', { hasText: 'Approve' });
    for (let tabs = 0; tabs < 4 && (await focused.count()) === 0; tabs++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('.entry[data-kind=choice]').waitFor();
    await page.keyboard.press('Escape');
    await conversation(page, /You: Approve/).waitFor();
    expect(await page.evaluate('document.activeElement.className')).toBe('thread');
  });

  it('has a name for everything that can be pressed', async () => {
    const { page, phone } = await openPhone();
    await harness.sendCard(demoCard(phone));
    await conversation(page, /Acme/).click();
    await answers(page).waitFor();
    const roles = ['button', 'link', 'textbox', 'combobox', 'radio', 'tab'] as const;
    for (const role of roles) expect(await page.getByRole(role, { name: /^\s*$/ }).count(), role).toBe(0);
  });
});

describe.skipIf(chromiumIsMissing)('a small screen', () => {
  it.each([{ width: 320, height: 568 }, SMALL, { width: 860, height: 620 }, DESKTOP])(
    'shows everything without scrolling sideways: %j',
    async (viewport) => {
      const { page, phone } = await openPhone(viewport);
      await harness.sendCard(demoCard(phone), ['17', '42', '83', 'Deny']);
      await conversation(page, /Acme/).click();
      await answers(page).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      expect(await page.evaluate("document.querySelector('#thread-scroll').scrollWidth")).toBeLessThanOrEqual(
        viewport.width,
      );
    },
  );

  it('has numbers and network in a sheet of its own', async () => {
    const { page, phone } = await openPhone(SMALL);
    await page.getByRole('button', { name: 'Numbers and network' }).click();
    await page.getByRole('radio', { name: /No RCS/ }).check();
    await page.keyboard.press('Escape');
    await page.getByRole('group', { name: 'Status bar' }).getByText('no RCS').waitFor({ state: 'attached' });
    await page.getByRole('radio', { name: /No RCS/ }).waitFor({ state: 'hidden' });
    expect(await profileOf(phone)).toMatchObject({ reachable: false });
  });
});
