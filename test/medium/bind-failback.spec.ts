import { setTimeout as delay } from 'node:timers/promises';
import type { Bind } from '@countersign/carriers/config';
import { bindStatus } from '@countersign/carriers/status';
import type { Uuid } from '@countersign/ids';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { STANDOFF_FIRST_MS } from '../../apps/gateway/src/binds/backoff.js';
import { Carrier } from '../support/carrier.js';
import { sms } from '../support/gateway-harness.js';
import { OutboundHarness } from '../support/outbound-harness.js';
import { until } from '../support/until.js';

type BindSlot = Parameters<typeof bindStatus>[1][number];
type BindStatus = ReturnType<typeof bindStatus>;

const OK = 0;
const ALREADY_BOUND = 0x05;
const BIND_FAILED = 0x0d;
const SYSTEM_ERROR = 0x08;
const LOOPBACK = '127.0.0.1';
const CONVERGED_WITHIN_MS = 10_000;
/** The first attempt to fail back is made after 20 s, the second at the latest 48 s later, each with jitter. */
const FAILED_BACK_WITHIN_MS = 90_000;
const PAUSE_MS = 50;

/** Two hosts of one carrier. */
let a: Carrier;
let b: Carrier;
let harness: OutboundHarness;
let ports: { readonly a: number; readonly b: number };

beforeEach(async () => {
  [a, b] = [new Carrier('a'), new Carrier('b')];
  ports = { a: await a.listen(), b: await b.listen() };
  harness = await OutboundHarness.open([]);
});
afterEach(async () => {
  await harness.close();
  await Promise.all([a.close(), b.close()]);
});

async function pairOfHosts(connections: number): Promise<Bind> {
  const { carriers, harness: stores } = harness.gateway;
  const hosts = [ports.a, ports.b].map((port) => ({ host: LOOPBACK, port }));
  const bind = await harness.gateway.bind({ name: 'pair', carrier: 'pair', hosts, connections });
  await carriers.createRoute(stores.database, { prefix: '+', bindId: bind.id });
  return bind;
}

const links = (): [number, number] => [a.links, b.links];
const areBoundTo = (expected: readonly [number, number], withinMs = CONVERGED_WITHIN_MS): Promise<void> =>
  until(`the connections are ${expected.join(' and ')}`, withinMs, () => String(links()) === String(expected));

async function statusOf(bind: Bind): Promise<BindStatus> {
  const slots = await harness.gateway.harness.database.query<Pick<BindSlot, 'slot' | 'owner' | 'status'>>(
    'SELECT slot, owner, status FROM bind_connections WHERE bind_id = $1',
    [bind.id],
  );
  return bindStatus(
    bind,
    slots.map((slot) => ({ ...slot, held: true, heldUntil: null })),
  );
}
const isShown = (bind: Bind, state: string): Promise<void> =>
  until(`the bind is ${state}`, CONVERGED_WITHIN_MS, async () => (await statusOf(bind)).state === state);

/** The host fails: its port is closed and its connections are reset. */
async function fails(host: Carrier): Promise<void> {
  host.drop();
  await host.close();
}

/** The first host is back, and refuses binds with this status; returns how many it has refused. */
async function returnsRefusing(status: number): Promise<() => number> {
  let refused = 0;
  a = new Carrier('a');
  a.authenticate = () => {
    refused += 1;
    return status;
  };
  await a.listen(ports.a);
  return () => refused;
}

interface Traffic {
  readonly codes: readonly Uuid[];
  /** Texts of MOs that were answered OK. */
  readonly texts: readonly string[];
}

/** Sends an MO as a carrier does: one that was not answered, because its link was unbound, is sent again. */
async function deliver(text: string): Promise<void> {
  await until('the MO is answered', CONVERGED_WITHIN_MS, async () => {
    const host = [a, b].find(({ isBound }) => isBound);
    return (await host?.deliver(sms(text)).catch(() => null)) === OK;
  });
}

/** Codes and MOs until stopped. */
function traffic(): { readonly stop: () => Promise<Traffic> } {
  const codes: Uuid[] = [];
  const texts: string[] = [];
  let isStopped = false;
  const send = async (): Promise<Traffic> => {
    const session = await harness.gateway.create({ ttlSeconds: 300 });
    while (!isStopped) {
      codes.push(await harness.queueCode(session, { validMs: 300_000 }));
      const text = `hello ${texts.length}`;
      await deliver(text);
      texts.push(text);
      await delay(PAUSE_MS);
    }
    return { codes, texts };
  };
  const sent = send();
  return {
    stop: () => {
      isStopped = true;
      return sent;
    },
  };
}

/** Every code was sent once, and every MO that was answered OK is stored. */
async function expectNothingLost({ codes, texts }: Traffic): Promise<void> {
  expect(codes.length).toBeGreaterThan(10);
  // One that was claimed while no link was bound has another attempt, and was not sent before.
  for (const id of codes) expect((await harness.waitForState(id, 'submitted')).unknownFates).toBe(0);
  expect(a.submits.length + b.submits.length).toBe(codes.length);
  const stored = new Set((await harness.gateway.messages()).map(({ text }) => text));
  expect(texts.filter((text) => !stored.has(text))).toEqual([]);
}

describe('the connections of a bind with two hosts', () => {
  it('return to both when the failed host is back, beside traffic without a loss', async () => {
    const bind = await pairOfHosts(2);
    await areBoundTo([1, 1]);
    await isShown(bind, 'bound');
    await fails(a);
    await areBoundTo([0, 2]);
    await isShown(bind, 'degraded');
    a = new Carrier('a');
    await a.listen(ports.a);
    const sent = traffic();
    await areBoundTo([1, 1], FAILED_BACK_WITHIN_MS);
    await isShown(bind, 'bound');
    await expectNothingLost(await sent.stop());
  }, 120_000);

  it('return to the preferred host of a carrier that permits one bind at a time', async () => {
    await pairOfHosts(1);
    await areBoundTo([1, 0]);
    await fails(a);
    await areBoundTo([0, 1]);
    a = new Carrier('a');
    a.authenticate = () => (b.links > 0 ? ALREADY_BOUND : OK);
    await a.listen(ports.a);
    const sent = traffic();
    await areBoundTo([1, 0], FAILED_BACK_WITHIN_MS);
    await expectNothingLost(await sent.stop());
  }, 120_000);

  it('are bound again at once when the preferred host refuses, though they were unbound for it', async () => {
    const bind = await pairOfHosts(1);
    await areBoundTo([1, 0]);
    await fails(a);
    await areBoundTo([0, 1]);
    const refused = await returnsRefusing(BIND_FAILED);
    const sent = traffic();
    await until(
      'it was refused beside the present link and after an unbind',
      FAILED_BACK_WITHIN_MS,
      () => refused() > 1,
    );
    // Without the delay of a standoff, 10 s at least.
    await areBoundTo([0, 1], STANDOFF_FIRST_MS / 2);
    await isShown(bind, 'bound');
    await expectNothingLost(await sent.stop());
  }, 120_000);

  it('stay where they are while the preferred host refuses', async () => {
    const bind = await pairOfHosts(2);
    await areBoundTo([1, 1]);
    await fails(a);
    await areBoundTo([0, 2]);
    const refused = await returnsRefusing(SYSTEM_ERROR);
    const sent = traffic();
    await until('the host has refused', FAILED_BACK_WITHIN_MS, () => refused() > 0);
    await until('the refusal is shown', CONVERGED_WITHIN_MS, async () => {
      return (await statusOf(bind)).connections.some(({ lastError }) => lastError?.includes('ESME_RSYSERR') ?? false);
    });
    expect(links()).toEqual([0, 2]);
    await expectNothingLost(await sent.stop());
  }, 120_000);
});
