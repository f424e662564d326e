import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Started } from './daemon.js';
import { createLogger, runDaemon, Shutdown } from './index.js';

class ForOperator extends Error {}

/** Runs a daemon with the given start in a fake process; returns its visible effects. */
async function run(start: () => Promise<Started>, host: { connected?: boolean; parentDies?: boolean } = {}) {
  const seen: string[] = [];
  const source = Object.assign(new EventEmitter(), {
    ...('connected' in host ? { connected: host.connected } : {}),
    stderr: { write: (text: string) => seen.push(text) },
    exit: (code: number) => seen.push(`exit ${code}`),
  });
  const isForOperator = (error: unknown): error is Error => error instanceof ForOperator;
  const running = runDaemon({ start, portVariables: 'SOME_PORT', isForOperator }, source);
  if (host.parentDies === true) source.emit('disconnect');
  await running;
  return { seen, parentDies: () => source.emit('disconnect') };
}

const started = (onReady: () => void = () => undefined): Promise<Started> => {
  const logger = createLogger({ app: 'test', level: 'silent' });
  const shutdown = new Shutdown({ logger, exit: () => undefined });
  shutdown.listen = () => shutdown;
  return Promise.resolve({ shutdown, ready: onReady });
};

describe('a daemon', () => {
  it('reports that it is ready, and then leaves the parent to the shutdown', async () => {
    const messages: string[] = [];
    const { seen, parentDies } = await run(() => started(() => messages.push('ready')));
    parentDies();
    expect(seen).toEqual([]);
    expect(messages).toEqual(['ready']);
  });

  it('ends with the reason when it cannot start', async () => {
    const { seen } = await run(() => Promise.reject(new Error('no database')));
    expect(seen).toEqual(['no database\n', 'exit 1']);
  });

  it('shows no secret quoted by an error, and texts for the operator unchanged', async () => {
    const quoting = await run(() => Promise.reject(new Error('no postgres://me:secret@db/x')));
    expect(quoting.seen.join('')).not.toContain('secret');
    const lines = await run(() => Promise.reject(new ForOperator('DATABASE_URL is not set')));
    expect(lines.seen).toContain('DATABASE_URL is not set\n');
    const escaping = await run(() => Promise.reject(new ForOperator('no role \u001b[2J\nor \u009bm')));
    expect(escaping.seen).toContain('no role \\u{1b}[2J\nor \\u{9b}m\n');
  });

  it('names the variable to change when a port is in use', async () => {
    const { seen } = await run(() => Promise.reject(new Error('listen EADDRINUSE: 127.0.0.1:1')));
    expect(seen[0]).toContain('stop what uses the port, or set SOME_PORT');
  });

  it('exits when its parent dies during the start, or died before', async () => {
    expect((await run(() => started(), { connected: true, parentDies: true })).seen).toEqual(['exit 1']);
    expect((await run(() => started(), { connected: false })).seen).toContain('exit 1');
  });
});
