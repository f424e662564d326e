// The pages of the pictures, and the traffic that they show.
import path from 'node:path';
import { chromium, request } from 'playwright-core';
import { waitUntil } from './processes.mjs';

const SOON_MS = 60_000;
const VIEW = { width: 1200, height: 800 };
const CHALLENGE = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b';
/** Numbers that are reserved for fictional use, with what their phones do. */
const PHONES = [
  ...['+14155552610', '+14155552611', '+442071838750', '+14155552612'].map((phone) => ({ phone, taps: 'approve' })),
  { phone: '+14155552613', taps: 'deny' },
  ...['+14155552614', '+12125552615', '+442071838751'].map((phone) => ({ phone, sends: true })),
  { phone: '+14155552616' },
];

/** @param {{ program: string, quickstart: object, folder: string }} options */
export async function takePictures({ program, quickstart, folder }) {
  const args = process.getuid?.() === 0 ? ['--no-sandbox', '--disable-dev-shm-usage'] : ['--disable-dev-shm-usage'];
  const browser = await chromium.launch({ executablePath: program, args });
  try {
    const sessionId = await seed(quickstart);
    const context = await browser.newContext({ viewport: VIEW, ...LOOK, ignoreHTTPSErrors: true });
    const page = await context.newPage();
    page.setDefaultTimeout(SOON_MS);
    const save = (name) => page.screenshot({ path: path.join(folder, `${name}.png`) });
    await signIn(page, quickstart);
    for (const [name, address, look] of consolePages({ ...quickstart, sessionId })) {
      await page.emulateMedia({ colorScheme: look });
      await open(page, `${quickstart.baseUrl}/console${address}`);
      await save(name);
    }
  } finally {
    await browser.close();
  }
}

const LOOK = { locale: 'en-US', timezoneId: 'Europe/Berlin', reducedMotion: 'reduce', colorScheme: 'light' };

/** The pages of the console, each with its theme. */
const consolePages = ({ accountId, brandId, sessionId }) => [
  ['brand', `/brands/${brandId}?account=${accountId}`, 'light'],
  ['overview', '/overview', 'light'],
  ['binds', '/binds', 'dark'],
  ['session', `/sessions/${sessionId}`, 'light'],
];

/** By the link of the start, which leads to the quickstart. A test session is opened there. */
async function signIn(page, { consoleUrl }) {
  await page.goto(consoleUrl);
  await page.getByRole('button', { name: 'Make a test key' }).click();
  await page.getByText('Copy the test key now').waitFor();
  await page.getByRole('button', { name: 'Open a session here' }).click();
  await page.getByText('approved', { exact: true }).first().waitFor();
  await page.locator('.toast').first().waitFor({ state: 'detached' });
  // The other pages show live data.
  await page.getByRole('switch', { name: 'Test mode' }).click();
}

async function open(page, address) {
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  // Names of accounts and figures of the side come later.
  await page.waitForLoadState('networkidle');
}

/** Live sessions that are approved by card and by SMS, denied, and pending. Resolves with the id of the last that an SMS approved. */
async function seed({ baseUrl, apiKey, accountId, brandId, inboundNumber, phoneUrl }) {
  const simulator = new URL(phoneUrl).origin;
  // The certificate of the control plane is of an authority that was made for these pictures.
  const api = await request.newContext({ ignoreHTTPSErrors: true, timeout: SOON_MS });
  const send = async (url, method, data, headers = {}) => {
    const answer = await api.fetch(url, { method, headers, ...(data === undefined ? {} : { data }) });
    if (!answer.ok()) throw new Error(`${method} ${url} was answered ${answer.status()}: ${await answer.text()}`);
    return answer.json();
  };
  const authorized = { authorization: `Bearer ${apiKey}` };
  let shownId = '';
  for (const { phone, taps, sends } of PHONES) {
    const profile = { reachable: taps !== undefined, online: true, autoTap: taps ?? null, tapAfterMs: 900 };
    await send(`${simulator}/_admin/phones/${encodeURIComponent(phone)}`, 'PUT', profile);
    const body = { phone, accountId, brandId, clientChallenge: CHALLENGE };
    const { id, fallbackUri } = await send(`${baseUrl}/v1/verify`, 'POST', body, authorized);
    const text = decodeURIComponent(fallbackUri?.split('?body=')[1] ?? '');
    if (sends) {
      shownId = id;
      await send(`${simulator}/_admin/sms`, 'POST', { from: phone, to: inboundNumber, text });
    }
    const isOver = async () =>
      (await send(`${baseUrl}/v1/verify/${id}`, 'GET', undefined, authorized)).status !== 'pending';
    if (taps !== undefined || sends) await waitUntil(isOver, SOON_MS);
  }
  await api.dispose();
  return shownId;
}
