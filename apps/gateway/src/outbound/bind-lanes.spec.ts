import type { Bind } from '@countersign/carriers';
import { describe, expect, it } from 'vitest';
import type { BindSender } from '../binds/bind-supervisor.js';
import { BindLanes } from './bind-lanes.js';

const bind: Bind = {
  id: 'b',
  name: 'north',
  carrier: 'north',
  hosts: [],
  tls: { enabled: false },
  systemId: 'us',
  passwordSealed: Buffer.alloc(0),
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
  trustedForMo: true,
  senderFormat: 'auto',
  senderLearning: null,
  enabled: true,
};
const senderOf = (slot: number): BindSender => ({
  bind,
  lease: { bindId: 'b', slot, owner: 'gw', epoch: '1' },
  windowUsed: 0,
  submit: () => Promise.reject(new Error('not sent here')),
});
const sender = senderOf(0);
const planned = (count: number, slot = 0): Map<string, number> => new Map([[`b/${slot}`, count]]);

const lanesOf = (...senders: BindSender[]): BindLanes =>
  new BindLanes({
    sendersOf: (bindId) => (bindId === 'b' ? senders : []),
    senderBy: ({ slot }) => senders.find(({ lease }) => lease.slot === slot) ?? null,
    senderAt: ({ slot }) => senders.find(({ lease }) => lease.slot === slot) ?? null,
  });
const slotWithRoom = (lanes: BindLanes, beside: ReadonlyMap<string, number>): number | null => {
  const room = lanes.roomFor('b', beside);
  return room !== null && 'lease' in room ? room.lease.slot : null;
};

describe('the room of a bind', () => {
  it('is four windows, with what is planned and what is under way taken off', () => {
    const lanes = lanesOf(sender);
    expect(lanes.roomFor('b', planned(3))).toEqual({ carrier: 'north', leaseSeconds: 20, lease: sender.lease });
    expect(slotWithRoom(lanes, planned(4))).toBe(null);
    lanes.take(sender.lease);
    expect(slotWithRoom(lanes, planned(3))).toBe(null);
    lanes.free(sender.lease);
    expect(slotWithRoom(lanes, planned(3))).toBe(0);
  });

  it('is on the connection that has the least in hand', () => {
    const lanes = lanesOf(sender, senderOf(1));
    expect(slotWithRoom(lanes, planned(1))).toBe(1);
    expect(slotWithRoom(lanes, planned(1, 1))).toBe(0);
    lanes.take(sender.lease);
    expect(slotWithRoom(lanes, new Map())).toBe(1);
    expect(slotWithRoom(lanes, planned(4, 1))).toBe(0);
  });

  it('is what a slow bind sends within a second, and is worth another look soon', () => {
    const lanes = lanesOf({ ...sender, bind: { ...bind, sendWindow: 50, submitPerSecond: 2 } });
    expect(slotWithRoom(lanes, planned(1))).toBe(0);
    expect(lanes.roomFor('b', planned(2))).toEqual({ fullForMs: 50 });
    lanes.take(sender.lease);
    lanes.take(sender.lease);
    expect(lanes.roomFor('b', new Map())).toEqual({ fullForMs: 500 });
  });

  it('is none while it is not bound', () => {
    expect(lanesOf().roomFor('b', new Map())).toBe(null);
    expect(lanesOf(sender).roomFor('other', new Map())).toBe(null);
  });
});
