// The demo account of a development run. The control plane owns its contents; request and result are JSON.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { ROOT } from './prepare.mjs';
import { StartError } from './progress.mjs';

const SCRIPT = path.join(ROOT, 'dist/apps/control-plane/src/demo/seed.js');
const TIMEOUT_MS = 60_000;

/**
 * Migrates the database and creates whatever is missing of the demo account: its keys, number, system, bind and route.
 *
 * @returns {Promise<{ accountId: string, brandId: string, brandSlug: string, apiKey: string, testApiKey: string,
 * webhookSecret: string, testWebhookSecret: string, inboundNumber: string, consolePath: string, smpp: { systemId: string, password: string }
 * }>}
 */
export async function seed({ environment, secrets, places, signal }) {
  const { code, output, words } = await run(environment, signal, {
    apiKey: secrets.apiKey,
    testApiKey: secrets.testApiKey,
    smppPassword: secrets.smppPassword,
    simulator: {
      host: '127.0.0.1',
      port: places.simulatorSmppPort,
      systemId: places.simulatorSystemId,
      password: secrets.simulatorPassword,
    },
  });
  signal.throwIfAborted();
  if (code !== 0) throw new StartError(`the database could not be prepared: ${words.trim() || `exit code ${code}`}`);
  return JSON.parse(output);
}

function run(environment, signal, request) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SCRIPT], { cwd: ROOT, env: environment, timeout: TIMEOUT_MS });
    const stop = () => child.kill('SIGTERM');
    signal.addEventListener('abort', stop, { once: true });
    let output = '';
    let words = '';
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (words += data));
    child.once('error', reject);
    child.once('close', (code) => {
      signal.removeEventListener('abort', stop);
      resolve({ code: code ?? 1, output, words });
    });
    child.stdin.on('error', () => {}); // the seed ended before it read: its exit code reports the error
    child.stdin.end(JSON.stringify(request));
  });
}
