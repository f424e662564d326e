import type { Bind } from '@countersign/carriers/config';
import { isBindLease, linkKey } from '@countersign/carriers/leases';
import { describe, expect, it } from 'vitest';
import type { BindSender } from '../binds/bind-supervisor.js';
import { SubmitQueues } from './submit-queues.js';

const bind: Bind = {
  id: 'b',
  name: 'north',
  carrier: 'north',
  hosts: [],
  tls: { enabled: false },
  systemId: 'us',
  passwordSealed: Buffer.alloc(0),
  clientKeySealed: null,
  outbind: null,
  outbindPasswordSealed: null,
  systemType: '',
  bindType: 'transceiver',
  interfaceVersion: '3.4',
  addressRange: '',
  sendWindow: 1,
  connections: 1,
  submitPerSecond: 50,
  messageIdBase: 'as-is',
  temporaryStatuses: [8, 20, 88],
  generation: 0,
  fullTraceUntil: null,
  enquireLinkSeconds: 30,
  responseTimeoutSeconds: 5,
  defaultAlphabet: 'gsm',
  retryableMoStatus: 20,
  submitOptions: {},
  trustedForMo: true,
  senderFormat: 'auto',
  senderLearning: null,
  enabled: true,
};
const senderOf = (slot: number): BindSender => ({
  bind,
  terms: bind,
  link: { bindId: 'b', slot, owner: 'gw', epoch: '1' },
  window: bind.sendWindow,
  perSecond: bind.submitPerSecond,
  submit: () => Promise.reject(new Error('not sent here')),
});
const NORTH = { bindId: 'b', systemId: null };
const sender = senderOf(0);
const planned = (count: number, slot = 0): Map<string, number> => new Map([[`b/${slot}`, count]]);

const queuesOf = (...senders: BindSender[]): SubmitQueues =>
  new SubmitQueues(
    {
      bindSenders: () => senders,
      sendersOf: ({ bindId }) => (bindId === 'b' ? senders : []),
      senderOf: (named) => senders.find(({ link }) => linkKey(link) === linkKey(named)) ?? null,
      presentSenderOf: (named) => senders.find(({ link }) => linkKey(link) === linkKey(named)) ?? null,
    },
    { setPaceSource: () => undefined },
  );
const slotWithCapacity = (queues: SubmitQueues, plannedBySlot: ReadonlyMap<string, number>): number | null => {
  const capacity = queues.capacityOf(NORTH, plannedBySlot);
  if (capacity === null || !('link' in capacity) || !isBindLease(capacity.link)) return null;
  return capacity.link.slot;
};

describe('the capacity of a bind', () => {
  it('is four windows, less planned and reserved attempts', () => {
    const queues = queuesOf(sender);
    expect(queues.capacityOf(NORTH, planned(3))).toEqual({ carrier: 'north', leaseSeconds: 20, link: sender.link });
    expect(slotWithCapacity(queues, planned(4))).toBe(null);
    queues.reserve(sender.link);
    expect(slotWithCapacity(queues, planned(3))).toBe(null);
    queues.release(sender.link);
    expect(slotWithCapacity(queues, planned(3))).toBe(0);
  });

  it('is on the connection with the fewest reserved attempts', () => {
    const queues = queuesOf(sender, senderOf(1));
    expect(slotWithCapacity(queues, planned(1))).toBe(1);
    expect(slotWithCapacity(queues, planned(1, 1))).toBe(0);
    queues.reserve(sender.link);
    expect(slotWithCapacity(queues, new Map())).toBe(1);
    expect(slotWithCapacity(queues, planned(4, 1))).toBe(0);
  });

  it('is one second of submits for a slow bind, with the delay until it is free', () => {
    const queues = queuesOf({ ...sender, window: 50, perSecond: 2 });
    expect(slotWithCapacity(queues, planned(1))).toBe(0);
    expect(queues.capacityOf(NORTH, planned(2))).toEqual({ fullForMs: 50 });
    queues.reserve(sender.link);
    queues.reserve(sender.link);
    expect(queues.capacityOf(NORTH, new Map())).toEqual({ fullForMs: 500 });
  });

  it('is null while the bind is not bound', () => {
    expect(queuesOf().capacityOf(NORTH, new Map())).toBe(null);
    expect(queuesOf(sender).capacityOf({ bindId: 'other', systemId: null }, new Map())).toBe(null);
  });
});
