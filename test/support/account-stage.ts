import path from 'node:path';
import type { Page } from 'playwright-core';
import { AdminCalls } from './admin-calls.js';
import { ConsoleStage, HOSTILE } from './console-stage.js';
import { type PhoneBrowser, PhoneMembers } from './phone-sign-in.js';
import { type Receiver, startReceiver } from './receiver.js';
import { until } from './until.js';

const SOON_MS = 60_000;

type Look = Parameters<ConsoleStage['visit']>[1];

/** The pages of an account in a browser: members who have signed in with their phones, and data of both modes. */
export class AccountStage {
  private constructor(
    readonly stage: ConsoleStage,
    readonly receiver: Receiver,
    private readonly members: Readonly<Record<'developer' | 'viewer', PhoneBrowser>>,
  ) {}

  static async open(): Promise<AccountStage> {
    const stage = await ConsoleStage.open();
    const members = new PhoneMembers(stage.harness);
    const [developer, viewer] = [await signedIn(members, 'developer'), await signedIn(members, 'viewer')];
    const account = new AccountStage(stage, await startReceiver(), { developer, viewer });
    await account.seed();
    return account;
  }

  /** Texts of strangers that must stay texts, a failed request, and sessions whose webhooks are delivered. */
  private async seed(): Promise<void> {
    const { harness } = this.stage;
    const { demo } = harness;
    const webhookUrl = this.receiver.url;
    for (const key of [demo.apiKey, demo.testApiKey]) {
      await harness.call(`/v1/verify/${encodeURIComponent(HOSTILE.slice(0, 40))}`, { key });
      await harness.call(`/v1/verify?phone=${encodeURIComponent('+14155552671')}&limit=0`, { key });
      const { json } = await harness.create({ webhookUrl, metadata: { note: HOSTILE } }, { key });
      await harness.approve(String(json['id']));
    }
    await new AdminCalls(harness).patch(`accounts/${demo.accountId}`, { name: HOSTILE.slice(0, 60) });
    await until('the webhooks', SOON_MS, () => Promise.resolve(this.receiver.received.length === 2));
  }

  get caFile(): string {
    return path.join(path.dirname(this.stage.harness.environment['TLS_CERT_FILE'] ?? ''), 'ca.pem');
  }

  /** A page of a member of the account. */
  async page(target: string, look: Look = {}, role: 'developer' | 'viewer' = 'developer'): Promise<Page> {
    const page = await this.stage.visit(target, look, this.members[role].cookie);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return page;
  }

  async close(): Promise<void> {
    await this.receiver.close();
    await this.stage.close();
  }
}

async function signedIn(members: PhoneMembers, role: 'developer' | 'viewer'): Promise<PhoneBrowser> {
  const { browser } = await members.add(role);
  await browser.begin();
  await browser.sendSms();
  await browser.state();
  return browser;
}

/** Chooses the mode, unless it is that one. */
export async function chooseMode(page: Page, mode: 'test' | 'live'): Promise<void> {
  const control = page.getByRole('switch', { name: 'Test mode' });
  if ((await control.getAttribute('aria-checked')) !== String(mode === 'test')) await control.click();
}
