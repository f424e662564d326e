import { readFileSync } from 'node:fs';
import { CountersignClient, type FetchFunction } from '@countersign/sdk';
import type { SimulatorSettings } from '@countersign/settings';
import { Agent, fetch } from 'undici';
import { LoginStore } from './login.store.js';
import { LoginService } from './login.service.js';
import { SignIns } from './sign-ins.js';

/** Maximum of logins and of sign-ins in memory. */
const MOST_LOGINS = 1_000;
const MOST_SIGN_INS = 1_000;
/** A create may wait for a card's delivery; longest time that a person waits. */
const CALL_TIMEOUT_MS = 15_000;

/** The shop's account at the service, from the launcher. */
export interface ShopAccount {
  readonly logins: LoginService;
  readonly webhookSecret: string;
  close(): Promise<void>;
}

/** The demo shop. Without an account it is closed, and its page says how to open it. */
export class Shop {
  readonly signIns = new SignIns(MOST_SIGN_INS);

  constructor(readonly account: ShopAccount | null) {}

  static open(settings: Readonly<SimulatorSettings>): Shop {
    return new Shop(accountOf(settings));
  }

  async close(): Promise<void> {
    await this.account?.close();
  }
}

function accountOf(settings: Readonly<SimulatorSettings>): ShopAccount | null {
  const { demoBaseUrl, demoApiKey, demoAccountId, demoBrandId, demoWebhookSecret } = settings;
  if (demoBaseUrl === null || demoApiKey === null || demoAccountId === null) return null;
  if (demoBrandId === null || demoWebhookSecret === null) return null;
  const agent = new Agent(settings.demoCaFile === null ? {} : { connect: { ca: readFileSync(settings.demoCaFile) } });
  const verifier = new CountersignClient({
    baseUrl: demoBaseUrl,
    apiKey: demoApiKey,
    fetch: through(agent),
    timeoutMs: CALL_TIMEOUT_MS,
    // The page asks the person to wait instead.
    maxRetryAfterSeconds: 1,
  });
  const logins = new LoginService({
    verifier,
    shop: {
      accountId: demoAccountId,
      brandId: demoBrandId,
      webhookUrl: `http://127.0.0.1:${settings.httpPort}/demo/webhook`,
    },
    store: new LoginStore(MOST_LOGINS),
    now: Date.now,
  });
  return { logins, webhookSecret: demoWebhookSecret, close: () => agent.destroy() };
}

/** Only the shop trusts the local authority. */
function through(agent: Agent): FetchFunction {
  return (url, request) => fetch(url, { ...request, dispatcher: agent });
}
