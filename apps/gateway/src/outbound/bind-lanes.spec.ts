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
  enabled: true,
};
const sender: BindSender = { bind, submit: () => Promise.reject(new Error('not sent here')) };

describe('the room of a bind', () => {
  it('is four windows, with what is planned and what is under way taken off', () => {
    const lanes = new BindLanes(() => sender);
    expect(lanes.roomFor('b', 3)).toEqual({ carrier: 'north', leaseSeconds: 20 });
    expect(lanes.roomFor('b', 4)).toBe(null);
    lanes.take('b');
    expect(lanes.roomFor('b', 3)).toBe(null);
    expect(lanes.roomFor('other', 3)).not.toBe(null);
    lanes.free('b');
    expect(lanes.roomFor('b', 3)).not.toBe(null);
  });

  it('is none while it is not bound', () => {
    expect(new BindLanes(() => null).roomFor('b', 0)).toBe(null);
  });
});
