import { spawn } from 'node:child_process';
import path from 'node:path';
import pg from 'pg';
import type { SeededDemo as SeedAnswer } from '../../apps/control-plane/src/demo/demo-account.js';

/** The seed's result: everything that a caller and an aggregator need. */
export type SeededDemo = Omit<SeedAnswer, 'smpp'> & SeedAnswer['smpp'];

function runSeed(environment: Readonly<Record<string, string>>, dist: string): Promise<string> {
  const script = path.resolve(dist, 'apps/control-plane/src/demo/seed.js');
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end('{}');
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`the seed ended with ${String(code)}`)),
    );
  });
}

async function setDefaultWebhook(databaseUrl: string, url: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('UPDATE accounts SET default_webhook_url = $1', [url]);
  await client.end();
}

/**
 * Seeds the demo account as `npm start` does, by the same entry of the build in `dist`; `webhookUrl` becomes the account's
 * default.
 */
export async function seedDemo(
  environment: Readonly<Record<string, string>>,
  options: { readonly webhookUrl?: string; readonly dist?: string } = {},
): Promise<SeededDemo> {
  const { smpp, ...answer } = JSON.parse(await runSeed(environment, options.dist ?? 'dist')) as SeedAnswer;
  const databaseUrl = environment['DATABASE_URL'];
  if (options.webhookUrl !== undefined && databaseUrl !== undefined) {
    await setDefaultWebhook(databaseUrl, options.webhookUrl);
  }
  return { ...answer, ...smpp };
}
