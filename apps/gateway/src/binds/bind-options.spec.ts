import type { Bind } from '@countersign/carriers/config';
import { describe, expect, it } from 'vitest';
import { bindCallOf, isSameConnection, isSamePeer, linkOptionsOf } from './bind-options.js';

const bind: Bind = {
  id: '01890000-0000-7000-8000-000000000001',
  name: 'north one',
  carrier: 'north',
  hosts: [{ host: 'smsc.example', port: 2775 }],
  tls: { enabled: false },
  systemId: 'countersign',
  passwordSealed: Buffer.from('1:secret'),
  clientKeySealed: null,
  outbind: null,
  outbindPasswordSealed: null,
  systemType: '',
  bindType: 'transceiver',
  interfaceVersion: '3.4',
  addressRange: '',
  sendWindow: 10,
  connections: 1,
  submitPerSecond: 50,
  messageIdBase: 'as-is',
  temporaryStatuses: [8, 20, 88],
  generation: 0,
  fullTraceUntil: null,
  enquireLinkSeconds: 30,
  responseTimeoutSeconds: 10,
  defaultAlphabet: 'gsm',
  retryableMoStatus: 20,
  submitOptions: {},
  trustedForMo: false,
  senderFormat: 'auto',
  senderLearning: null,
  enabled: true,
};

/** A sealed text is the version of a key and the text. */
const passwordsOf = ({ passwordSealed, outbindPasswordSealed }: Bind): (string | null)[] =>
  [passwordSealed, outbindPasswordSealed].map((sealed) => sealed?.toString().split(':')[1] ?? null);

describe('bind options', () => {
  it('converts seconds, version and window of the row', () => {
    expect(linkOptionsOf({ ...bind, interfaceVersion: '5.0', sendWindow: 3, enquireLinkSeconds: 15 })).toMatchObject({
      endpoint: { role: 'esme', interfaceVersion: 0x50 },
      limits: { window: 3 },
      timers: { enquireLinkMs: 15_000, responseMs: 10_000, inactivityMs: 0 },
    });
  });

  it('uses the bind parameters of the row', () => {
    expect(bindCallOf({ ...bind, bindType: 'receiver', systemType: 'VMS', addressRange: '^1' }, 'secret')).toEqual({
      bindType: 'receiver',
      systemId: 'countersign',
      password: 'secret',
      systemType: 'VMS',
      addressRange: '^1',
    });
  });

  it.each<Partial<Bind>>([
    { trustedForMo: true },
    { carrier: 'south' },
    { defaultAlphabet: 'latin1' },
    { retryableMoStatus: 88 },
    { name: 'north two' },
    { sendWindow: 1 },
    { submitPerSecond: 1 },
    { temporaryStatuses: [20] },
    { messageIdBase: 'hex-to-dec' },
    { connections: 2 },
    { fullTraceUntil: new Date(0) },
    { tls: { enabled: false, serverName: 'unused.example' } },
    { passwordSealed: Buffer.from('2:secret') },
  ])('keeps the connection when only this changes: %j', (change) => {
    expect(isSameConnection(bind, { ...bind, ...change }, passwordsOf)).toBe(true);
  });

  it.each<Partial<Bind>>([
    { hosts: [{ host: 'smsc.example', port: 2776 }] },
    { hosts: [...bind.hosts, { host: 'smsc2.example', port: 2775 }] },
    { tls: { enabled: true } },
    { systemId: 'other' },
    { passwordSealed: Buffer.from('1:other password') },
    { systemType: 'VMS' },
    { bindType: 'receiver' },
    { interfaceVersion: '3.3' },
    { addressRange: '^1' },
    { generation: 1 },
    { enquireLinkSeconds: 60 },
    { responseTimeoutSeconds: 5 },
  ])('needs a new connection when this changes: %j', (change) => {
    expect(isSameConnection(bind, { ...bind, ...change }, passwordsOf)).toBe(false);
  });

  it.each<[boolean, Partial<Bind>]>([
    [true, { trustedForMo: true, sendWindow: 1, enquireLinkSeconds: 60 }],
    [true, { passwordSealed: Buffer.from('2:secret') }],
    [false, { passwordSealed: Buffer.from('2:other') }],
    [false, { systemId: 'other' }],
    [false, { hosts: [{ host: 'smsc.example', port: 2776 }] }],
  ])('knows whether the peer is the same (%s) when this changes: %j', (isSame, change) => {
    expect(isSamePeer(bind, { ...bind, ...change }, passwordsOf)).toBe(isSame);
  });

  it('compares the password of an outbind, whatever its octets', () => {
    const outbind = { systemId: 'smsc', allowedCidrs: ['192.0.2.1/32'] };
    const waiting = { ...bind, outbind, outbindPasswordSealed: Buffer.from('1:agreed') };
    const resealed = { ...waiting, outbindPasswordSealed: Buffer.from('2:agreed') };
    const changed = { ...waiting, outbindPasswordSealed: Buffer.from('2:other') };
    expect([resealed, changed].map((each) => isSamePeer(waiting, each, passwordsOf))).toEqual([true, false]);
  });
});
