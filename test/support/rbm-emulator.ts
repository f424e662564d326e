import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Logger } from '@nestjs/common';
import { loadSettings, SimulatorSettings } from '@countersign/settings';
import { request } from 'undici';
import { freePort } from '../../config/stack/postgres.mjs';
import { ensureServiceAccount } from '../../config/stack/service-account.mjs';
import { openSimulator, type Simulator } from '../../apps/simulator/src/simulator.js';

/** The simulator, the settings that a gateway needs to send cards to it, and its admin API. */
export interface RbmEmulator {
  readonly simulator: Simulator;
  /** Base URL of RBM, `/_admin` and the pages. */
  readonly url: string;
  readonly smpp: { readonly port: number; readonly systemId: string; readonly password: string };
  readonly serviceAccountFile: string;
  readonly clientToken: string;
  admin(
    method: 'GET' | 'PUT' | 'POST',
    pathname: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
  close(): Promise<void>;
}

/** The simulator in this process, on free ports. `webhookUrl` may be given later (`PUT /_admin/rbm`). */
export async function openRbmEmulator(options: { readonly webhookUrl?: string } = {}): Promise<RbmEmulator> {
  const [httpPort, smppPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${httpPort}`;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-simulator-'));
  const serviceAccountFile = await ensureServiceAccount({ dataDir: folder, tokenUri: `${url}/token` });
  const smpp = { port: smppPort, systemId: 'simulator', password: 'secret08' };
  const clientToken = 'client-token-of-a-test';
  const settings = loadSettings(SimulatorSettings, {
    SIMULATOR_HTTP_PORT: String(httpPort),
    SIMULATOR_SMPP_PORT: String(smppPort),
    SIMULATOR_SYSTEM_ID: smpp.systemId,
    SIMULATOR_PASSWORD: smpp.password,
    SIMULATOR_RBM_SERVICE_ACCOUNT_FILE: serviceAccountFile,
    SIMULATOR_RBM_CLIENT_TOKEN: clientToken,
    SIMULATOR_RBM_WEBHOOK_URL: options.webhookUrl,
  });
  Logger.overrideLogger(false);
  const simulator = await openSimulator(settings, () => undefined);
  return {
    simulator,
    url,
    smpp,
    serviceAccountFile,
    clientToken,
    admin: async (method, pathname, body) => {
      const answer = await request(`${url}${pathname}`, {
        method,
        headers: { 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      });
      return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
    },
    close: async () => {
      await simulator.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
