import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SDK_VERSION } from '@countersign/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RealtimeServer } from '../../libs/sdk/test/realtime-server.js';
import { chromiumIsMissing, openBrowser } from '../support/browser.js';

const SOURCES = fileURLToPath(new URL('../../libs/sdk', import.meta.url));
const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
/** The SDK's only dependency. */
const UQR = fileURLToPath(new URL('../../node_modules/uqr', import.meta.url));

const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-sdk-'));
const built = path.join(folder, 'built');
/** A project with only the SDK installed. */
const bare = path.join(folder, 'bare');
const installed = path.join(bare, 'node_modules', '@countersign', 'sdk');

const run = (cwd: string, program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd, encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: folder } });
const NPM_OPTIONS = ['--offline', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
const npm = (cwd: string, ...args: string[]): string =>
  run(cwd, 'npm', ...NPM_OPTIONS, '--cache', path.join(folder, 'cache'), ...args);

beforeAll(() => {
  npm(SOURCES, 'run', 'build', '--', '--outDir', path.join(built, 'dist'));
  for (const file of ['package.json', 'README.md', 'LICENSE']) cpSync(path.join(SOURCES, file), path.join(built, file));
  npm(built, 'pack', '--ignore-scripts');
  const [archive = ''] = readdirSync(built).filter((file) => file.endsWith('.tgz'));
  mkdirSync(bare);
  writeFileSync(path.join(bare, 'package.json'), '{"name":"bare","private":true,"type":"module"}');
  npm(bare, 'pack', '--ignore-scripts', UQR);
  const [uqr = ''] = readdirSync(bare).filter((file) => file.endsWith('.tgz'));
  npm(bare, 'install', '--ignore-scripts', path.join(bare, uqr), path.join(built, archive));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program in the bare project; returns its output, which is JSON. */
function printed(program: string): unknown {
  writeFileSync(path.join(bare, 'program.mjs'), program);
  return JSON.parse(run(bare, process.execPath, 'program.mjs'));
}

const modules = (): string[] => readdirSync(path.join(installed, 'dist')).filter((file) => file.endsWith('.js'));

describe('the package', () => {
  it('holds what it says, and nothing else', () => {
    const manifest: unknown = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ name: '@countersign/sdk', version: SDK_VERSION, license: 'Apache-2.0' });
    expect(manifest).toHaveProperty('dependencies', { uqr: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string });
    expect(readdirSync(installed).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
    const types = modules().map((file) => file.replace(/\.js$/, '.d.ts'));
    expect(readdirSync(path.join(installed, 'dist')).sort()).toEqual([...modules(), ...types].sort());
    expect(modules().filter((file) => /spec|scripted/.test(file))).toEqual([]);
  });

  it('imports nothing but its own modules, and uqr where it draws', () => {
    for (const file of modules()) {
      const text = readFileSync(path.join(installed, 'dist', file), 'utf8');
      const imports = [...text.matchAll(/(?:\bfrom|^import) '([^']+)';$/gm)].map(([, name = '']) => name);
      const known = file === 'qr-svg.js' ? [...modules(), 'uqr'] : modules();
      for (const name of imports)
        expect([file, known]).toEqual([file, expect.arrayContaining([name.replace('./', '')])]);
      expect([file, /\bimport\(|\brequire\(|\bprocess\.|\bBuffer\./.exec(text)]).toEqual([file, null]);
    }
  });

  it('is imported by Node in a bare folder, and works there', () => {
    const names = printed(`console.log(JSON.stringify(Object.keys(await import('@countersign/sdk')).sort()))`);
    expect(names).toEqual(expect.arrayContaining(['CountersignClient', 'createChallenge', 'qrSvg', 'verifyWebhook']));
    const page = printed(`console.log(JSON.stringify(Object.keys(await import('@countersign/sdk/browser')).sort()))`);
    expect(page).toEqual([
      'RealtimeError',
      'createChallenge',
      'parseFallbackUri',
      'platformSmsUri',
      'qrSvg',
      'realtime',
      'smsQrText',
      'verifySecret',
    ]);
    const fits = printed(`
      import { createChallenge, verifySecret } from '@countersign/sdk';
      const { secret, challenge } = await createChallenge();
      console.log(JSON.stringify([await verifySecret(secret, challenge), await verifySecret('no', challenge)]));`);
    expect(fits).toEqual([true, false]);
    expect(() => printed(`import '@countersign/sdk/dist/client.js'`)).toThrow();
  });

  it.each([
    ['Node', ['--module', 'nodenext', '--lib', 'es2023,dom']],
    ['a bundler', ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2023,dom']],
  ])('has types that %s reads strictly, with no other types installed', (_name, options) => {
    writeFileSync(
      path.join(bare, 'program.ts'),
      `import { CountersignClient, InvalidCodeError, verifyWebhook, type Session } from '@countersign/sdk';
       import { createChallenge, realtime, type SessionView } from '@countersign/sdk/browser';
       export async function use(session: Session, body: string, headers: Headers): Promise<string> {
         const client = new CountersignClient({ baseUrl: 'https://localhost', apiKey: 'csk_test_x', fetch });
         const { challenge } = await createChallenge();
         const { phone, accountId, brandId } = session;
         const made = await client.create({ phone, accountId, brandId, clientChallenge: challenge });
         const code: string | undefined = made.matchCode;
         const event = await verifyWebhook(body, headers, 'whsec_');
         if (event.type === 'verification.completed') return event.data.authEntropy;
         // @ts-expect-error only an approved session has it
         session.authEntropy;
         return session.status === 'approved' ? session.authEntropy : code ?? '';
       }
       export async function wait(id: string, ticket: string, url: string): Promise<SessionView> {
         const connect = (at: string, protocols: string[]) => new WebSocket(at, protocols);
         const live = realtime({ connect, ticket: () => Promise.resolve({ ticket, url }) });
         live.subscribe(\`session:\${id}\`, { event: (event) => { if (event.type === 'verification.updated') event.data.expiresAt; } });
         // @ts-expect-error a page never sees it
         (await live.untilEnded(id)).phone;
         return live.untilEnded(id);
       }
       export const left = (error: unknown): number | undefined => error instanceof InvalidCodeError ? error.attemptsRemaining : undefined;`,
    );
    run(
      bare,
      process.execPath,
      TSC,
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--target',
      'es2023',
      ...options,
      'program.ts',
    );
  });
});

/** Without a bundler a page maps the one bare name, and its policy allows exactly that script. */
const IMPORT_MAP = '{"imports":{"uqr":"/uqr.mjs"}}';
const IMPORT_MAP_HASH = createHash('sha256').update(IMPORT_MAP).digest('base64');
const PAGE = `<!doctype html><title>page</title><script type="importmap">${IMPORT_MAP}</script>`;

describe.skipIf(chromiumIsMissing)('the package in a page', () => {
  let server: Server;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const name = path.basename(request.url ?? '/');
      const file =
        name === 'uqr.mjs' ? path.join(bare, 'node_modules/uqr/dist/index.mjs') : path.join(installed, 'dist', name);
      const isModule = name === 'uqr.mjs' || modules().includes(name);
      response.writeHead(200, {
        'content-type': isModule ? 'text/javascript' : 'text/html',
        'content-security-policy': `default-src 'none'; script-src 'self' 'sha256-${IMPORT_MAP_HASH}'; connect-src ws://127.0.0.1:*`,
      });
      response.end(isModule ? readFileSync(file) : PAGE);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => server.close());

  it.each(['browser.js', 'index.js'])('is loaded as plain modules, under a strict policy: %s', async (entry) => {
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
      const result = await page.evaluate(`(async () => {
        const sdk = await import('/${entry}');
        const { secret, challenge } = await sdk.createChallenge();
        sdk.realtime({ ticket: () => Promise.resolve(null) }).close();
        const { documentElement } = new DOMParser().parseFromString(sdk.qrSvg(secret), 'image/svg+xml');
        return [await sdk.verifySecret(secret, challenge), documentElement.nodeName];
      })()`);
      expect(result).toEqual([true, 'svg']);
    } finally {
      await browser.close();
    }
  });

  it('listens with the page’s own WebSocket, and comes back when its connection is lost', async () => {
    const service = await RealtimeServer.open();
    const browser = await openBrowser();
    try {
      const [[channel = '', session = {}] = []] = service.sessions;
      const page = await browser.newPage();
      await page.exposeFunction('ticket', () => service.issue());
      await page.exposeFunction('lose', () => {
        service.sessions.set(channel, { ...session, status: 'approved', approvedAt: 'now', latencyMs: 1 });
        service.end();
      });
      await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
      const statuses = await page.evaluate(`(async () => {
        const { realtime } = await import('/browser.js');
        const statuses = [];
        const live = realtime({ ticket: () => window.ticket(), firstBackoffMs: 10 });
        live.subscribe('${channel}', {
          snapshot: ({ status }) => { statuses.push(status); if (status === 'pending') window.lose(); },
        });
        await live.untilEnded('${channel.slice('session:'.length)}');
        live.close();
        return statuses;
      })()`);
      expect(statuses).toEqual(['pending', 'approved']);
      expect(service.upgrades.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
    } finally {
      await browser.close();
      await service.close();
    }
  });
});
