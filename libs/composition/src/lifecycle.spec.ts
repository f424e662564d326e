import 'reflect-metadata';
import { createLogger, Shutdown } from '@countersign/telemetry';
import { Injectable, Module } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import { beforeEach, expect, it } from 'vitest';
import { Lifecycle } from './lifecycle.js';
import { phaseDecorators } from './phases.js';

const STEPS = [
  { name: 'stop the workers', deadlineMs: 1_000, phases: ['consumers', 'batchers'] },
  { name: 'close', deadlineMs: 1_000, phases: ['modules', 'database'] },
] as const;
const { OnStart, OnStop } = phaseDecorators<'subscriptions' | 'workers', (typeof STEPS)[number]['phases'][number]>();

const order: string[] = [];

@Injectable()
class Worker {
  readonly #name = 'worker';

  /** Accessors of providers are not read. */
  get broken(): never {
    throw new Error('read');
  }

  @OnStart('workers')
  start(): void {
    order.push(`${this.#name} starts`);
  }

  @OnStop('consumers')
  async stop(): Promise<void> {
    order.push(`${this.#name} stops`);
    await Promise.resolve();
    order.push(`${this.#name} has stopped`);
  }
}

@Injectable()
class OtherWorker {
  @OnStop('consumers')
  stop(): void {
    order.push('other worker stops');
  }

  @OnStop('batchers')
  drain(): Promise<void> {
    order.push('other worker fails to drain');
    return Promise.reject(new Error('no connection'));
  }
}

@Injectable()
class Connection {
  @OnStart('subscriptions')
  start(): void {
    order.push('connection starts');
  }

  @OnStop('database')
  close(): void {
    order.push('connection closes');
  }
}

@Module({ imports: [DiscoveryModule], providers: [Connection, Lifecycle, Worker, OtherWorker] })
class TestModule {}

beforeEach(() => {
  order.length = 0;
});

async function lifecycleOf(): Promise<Lifecycle> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest declares its options as classes
  const context = await NestFactory.createApplicationContext(TestModule, { logger: false, abortOnError: false });
  return context.get(Lifecycle);
}

it('starts providers in the order of the phases, not of the modules', async () => {
  const lifecycle = await lifecycleOf();
  await lifecycle.start(['workers', 'subscriptions']);
  expect(order).toEqual(['worker starts', 'connection starts']);
});

it('stops providers in the order of the phases, those of one phase at the same time, and goes on after a failure', async () => {
  const lifecycle = await lifecycleOf();
  lifecycle.onStop('modules', () => void order.push('modules close'));
  let exitCode: number | null = null;
  const logger = createLogger({ app: 'test', level: 'silent' });
  const shutdown = new Shutdown({ logger, exit: (code) => (exitCode = code) });
  await lifecycle.addStopSteps(shutdown, STEPS).run('test');
  expect(order).toEqual([
    ...['worker stops', 'other worker stops', 'worker has stopped'],
    ...['other worker fails to drain', 'modules close', 'connection closes'],
  ]);
  expect(exitCode).toBe(1);
});
