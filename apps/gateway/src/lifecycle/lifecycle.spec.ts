import { Injectable, Logger, Module } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import { createLogger, Shutdown } from '@countersign/telemetry';
import { describe, expect, it } from 'vitest';
import { Lifecycle } from './lifecycle.js';
import { OnStart, OnStop, STOP_STEPS } from './phases.js';

const calls: string[] = [];
const call = async (name: string): Promise<void> => {
  calls.push(name);
  await new Promise(setImmediate);
  calls.push(`${name} done`);
};

@Injectable()
class Sender {
  @OnStart('start sending')
  start(): Promise<void> {
    return call('send');
  }

  @OnStop('stop sending')
  stop(): Promise<void> {
    return call('stop sending');
  }

  @OnStop('stop maintenance')
  stopMaintenance(): void {
    throw new Error('not stopped');
  }
}

@Injectable()
class Port {
  @OnStart('open the SMPP ports')
  listen(): Promise<void> {
    return call('listen');
  }

  @OnStop('finish events')
  finish(): Promise<void> {
    return call('finish');
  }

  @OnStop('drain batchers')
  drain(): Promise<void> {
    return call('drain');
  }

  @OnStop('stop sending')
  pause(): Promise<void> {
    return call('pause');
  }

  @OnStop('close the bus')
  closeBus(): Promise<void> {
    return call('close the bus');
  }
}

@Module({ imports: [DiscoveryModule], providers: [Lifecycle, Sender, Port] })
class TestModule {}

async function opened(): Promise<{ lifecycle: Lifecycle; shutdown: Shutdown; codes: number[] }> {
  calls.length = 0;
  Logger.overrideLogger(false);
  const app = await NestFactory.createApplicationContext(TestModule);
  const codes: number[] = [];
  const logger = createLogger({ app: 'test', level: 'silent' });
  const shutdown = new Shutdown({ logger, exit: (code) => void codes.push(code) });
  const lifecycle = app.get(Lifecycle);
  lifecycle.addStopSteps(shutdown, async () => {
    await call('close queues');
    await app.close();
  });
  return { lifecycle, shutdown, codes };
}

describe('the lifecycle', () => {
  it('starts in the order of the phases, not of the providers, one component after another', async () => {
    const { lifecycle, shutdown } = await opened();
    await lifecycle.start();
    expect(calls).toEqual(['listen', 'listen done', 'send', 'send done']);
    await shutdown.run('the test is over');
  });

  it('stops in the order of the steps, the components of a phase together, and goes on after a step that failed', async () => {
    const { shutdown, codes } = await opened();
    await shutdown.run('SIGTERM');
    expect(calls).toEqual([
      ...['stop sending', 'pause', 'stop sending done', 'pause done'],
      ...['drain', 'drain done', 'finish', 'finish done'],
      ...['close the bus', 'close the bus done', 'close queues', 'close queues done'],
    ]);
    expect(codes).toEqual([1]);
  });

  it('has each phase of the stop in one step', () => {
    const phases = STOP_STEPS.flatMap((step) => [...step.phases]);
    expect(new Set(phases).size).toBe(phases.length);
  });
});
