import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createLogger, createRequestIds, Shutdown } from './index.js';

function stopping(): { shutdown: Shutdown; lines: { msg: string; step?: string }[]; codes: number[] } {
  const lines: { msg: string; step?: string }[] = [];
  const codes: number[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as { msg: string; step?: string }) };
  const logger = createLogger({ app: 'test', level: 'info', destination });
  return { shutdown: new Shutdown({ logger, exit: (code) => void codes.push(code) }), lines, codes };
}

describe('a shutdown', () => {
  it('runs its steps one after another, logs each, and exits 0', async () => {
    const { shutdown, lines, codes } = stopping();
    const order: string[] = [];
    shutdown.step('first', 1000, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('first');
    });
    shutdown.step('second', 1000, () => void order.push('second'));
    await shutdown.run('SIGTERM');
    expect(order).toEqual(['first', 'second']);
    expect(lines.map(({ msg, step }) => step ?? msg)).toEqual(['stopping', 'first', 'second', 'stopped']);
    expect(codes).toEqual([0]);
  });

  it('continues after a step that fails or times out, and exits 1', async () => {
    const { shutdown, lines, codes } = stopping();
    let reached = false;
    shutdown.step('fails', 1000, () => Promise.reject(new Error('no')));
    shutdown.step('never ends', 5, () => new Promise<void>(() => undefined));
    shutdown.step('last', 1000, () => void (reached = true));
    await shutdown.run('SIGTERM');
    expect(reached).toBe(true);
    expect(lines.map(({ msg }) => msg)).toEqual([
      'stopping',
      'stop step failed',
      'stop step timed out',
      'stop step done',
      'stopped',
    ]);
    expect(codes).toEqual([1]);
  });

  it('runs once', async () => {
    const { shutdown, codes } = stopping();
    let runs = 0;
    shutdown.step('only', 1000, () => void (runs += 1));
    expect(shutdown.started).toBe(false);
    await Promise.all([shutdown.run('SIGTERM'), shutdown.run('SIGINT'), shutdown.run('parent gone')]);
    expect([shutdown.started, runs, codes]).toEqual([true, 1, [0]]);
  });
});

describe('the reasons to stop', () => {
  const listening = (connected: boolean): ReturnType<typeof stopping> & { source: EventEmitter } => {
    const source = Object.assign(new EventEmitter(), { connected });
    const parts = stopping();
    parts.shutdown.listen(source);
    return { ...parts, source };
  };

  it('are not SIGHUP, which reads again what can change', () => {
    const { shutdown, source, codes } = listening(false);
    let reloads = 0;
    shutdown.onReload(() => void (reloads += 1));
    source.emit('SIGHUP');
    source.emit('SIGHUP');
    expect([reloads, shutdown.started, codes]).toEqual([2, false, []]);
  });

  it.each(['SIGTERM', 'SIGINT', 'disconnect'])('%s stops the process cleanly', async (event) => {
    const { source, shutdown, codes } = listening(true);
    source.emit(event);
    expect(shutdown.started).toBe(true);
    await shutdown.run('again');
    expect(codes).toEqual([0]);
  });

  it('without a parent there is none to lose', () => {
    const { source, shutdown } = listening(false);
    source.emit('disconnect');
    expect(shutdown.started).toBe(false);
  });

  it('an uncaught error is logged and exits 1', async () => {
    const { source, shutdown, lines, codes } = listening(false);
    source.emit('uncaughtException', new Error('bug'), 'unhandledRejection');
    await shutdown.run('again');
    expect(lines[0]?.msg).toBe('uncaught error');
    expect(codes).toEqual([1]);
  });
});

describe('request ids', () => {
  it('have their prefix, never repeat, and sort by time', () => {
    const next = createRequestIds();
    const ids = Array.from({ length: 5000 }, () => next());
    for (const id of ids) expect(id).toMatch(/^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
    const other = createRequestIds(() => 1)();
    expect(other.slice(0, 14)).toBe('req_0000000001');
    expect(other.slice(14, 22)).not.toBe(ids[0]?.slice(14, 22));
  });
});
