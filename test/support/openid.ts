import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { request } from 'undici';
import { freePort } from '../../config/stack/postgres.mjs';
import { ROOT } from './stack.js';

export const CLIENT = { id: 'console', secret: 'a-secret-of-the-test' };

/** The npm package oidc-provider in a process of its own, and the browser of a person who signs in there. */
export class OpenIdProvider {
  private constructor(
    readonly issuer: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(redirectUris: readonly string[]): Promise<OpenIdProvider> {
    const port = await freePort();
    const clients = redirectUris.map((redirectUri, at) => ({
      ...CLIENT,
      id: CLIENT.id + '-other'.repeat(at),
      redirectUri,
    }));
    const script = path.join(ROOT, 'test/support/oidc-provider.mjs');
    const child = spawn(process.execPath, [script, JSON.stringify({ port, clients })], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    return new OpenIdProvider(`http://127.0.0.1:${String(port)}`, child);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
  }

  /** Signs a person in at the page to which the console has sent the browser; returns the address of the way back. */
  async signIn(authorizationUrl: string, person: string): Promise<string> {
    const cookies = new Map<string, string>();
    let url = authorizationUrl;
    let body: string | undefined;
    for (let step = 0; step < 12; step += 1) {
      const response = await request(url, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
          ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        ...(body === undefined ? {} : { body }),
      });
      for (const line of [response.headers['set-cookie'] ?? []].flat()) {
        const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=', 2);
        cookies.set(name, value);
      }
      const text = await response.body.text();
      const location = response.headers['location'];
      body = undefined;
      if (typeof location === 'string') {
        url = new URL(location, url).href;
        if (!url.startsWith(this.issuer)) return url;
        continue;
      }
      const [, action = ''] = /<form[^>]*action="([^"]+)"/.exec(text) ?? [];
      if (action === '') throw new Error(`the provider answered ${String(response.statusCode)}: ${text.slice(0, 500)}`);
      url = new URL(action, url).href;
      body = text.includes('name="login"')
        ? `prompt=login&login=${encodeURIComponent(person)}&password=x`
        : 'prompt=consent';
    }
    throw new Error('the provider does not come to an end');
  }
}
