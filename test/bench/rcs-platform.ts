import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { request } from 'undici';
import { freePort } from '../support/free-port.js';
import type { Subject } from './processes.js';
import { type Environment, startGateway, startSimulator } from './subjects.js';

const CLIENT_TOKEN = 'client-token-of-the-bench';
const KEY_BITS = 2_048;
const CALLS_AT_ONCE = 64;

/** How a number responds to cards. */
export interface Manner {
  readonly reachable: boolean;
  readonly online: boolean;
  readonly deliverAfterMs: number;
}

/** A gateway that sends cards, and the simulated platform. */
export interface RcsPlatform {
  readonly gateway: Subject;
  /** Sets how these numbers respond to cards. */
  setPhones(phones: readonly string[], manner: Manner): Promise<void>;
  stop(): Promise<void>;
}

function serviceAccount(url: string): object {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: KEY_BITS,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return {
    type: 'service_account',
    project_id: 'countersign-bench',
    private_key_id: 'bench',
    private_key: privateKey,
    client_email: 'rbm@countersign-bench.iam.gserviceaccount.com',
    token_uri: `${url}/token`,
  };
}

async function setPhone(url: string, phone: string, manner: Manner): Promise<void> {
  const { statusCode, body } = await request(`${url}/_admin/phones/${encodeURIComponent(phone)}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(manner),
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`the simulator answered ${statusCode} for a phone`);
}

export async function startRcsPlatform(environment: Environment): Promise<RcsPlatform> {
  const [simulatorPort, webhookPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${simulatorPort}`;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-bench-rcs-'));
  const accountFile = path.join(folder, 'service-account.json');
  writeFileSync(accountFile, JSON.stringify(serviceAccount(url)), { mode: 0o600 });
  const simulator = await startSimulator('simulator', simulatorPort, {
    SIMULATOR_RBM_SERVICE_ACCOUNT_FILE: accountFile,
    SIMULATOR_RBM_CLIENT_TOKEN: CLIENT_TOKEN,
    SIMULATOR_RBM_WEBHOOK_URL: `http://127.0.0.1:${webhookPort}/rcs/webhook`,
  });
  const gateway = await startGateway('gateway', {
    ...environment,
    GATEWAY_HTTP_PORT: String(webhookPort),
    RBM_BASE_URL: url,
    RBM_SERVICE_ACCOUNT_FILE: accountFile,
    RBM_CLIENT_TOKEN: CLIENT_TOKEN,
  });
  return {
    gateway,
    setPhones: async (phones, manner) => {
      for (let at = 0; at < phones.length; at += CALLS_AT_ONCE) {
        await Promise.all(phones.slice(at, at + CALLS_AT_ONCE).map((phone) => setPhone(url, phone, manner)));
      }
    },
    stop: async () => {
      await gateway.stop();
      await simulator.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
