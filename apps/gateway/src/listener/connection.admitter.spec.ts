import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { createLogger, Metrics } from '@countersign/telemetry';
import { describe, expect, it } from 'vitest';
import { ConnectionAdmitter } from './connection.admitter.js';
import { ListenerMetrics } from './listener.metrics.js';

const CARRIER = '192.0.2.1';

/** A connection of this address. */
class Peer extends EventEmitter {
  destroyed = false;
  readonly localPort = 2775;
  constructor(
    readonly remoteAddress: string,
    readonly remotePort: number,
  ) {
    super();
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

/** The networks are read again when the test says so; then `allowed` are those of systems. */
function newAdmitter() {
  let read: () => void = () => undefined;
  const reading = new Promise<void>((resolve) => (read = resolve));
  const allowed = new Set<string>();
  const admitter = new ConnectionAdmitter(
    { isLockedOut: () => false },
    {
      knowsAddress: (address) => address === CARRIER,
      allowsAddress: (address) => reading.then(() => allowed.has(address)),
    },
    new ListenerMetrics(new Metrics({ app: 'test', processMetrics: false })),
    createLogger({ app: 'gateway', level: 'silent' }),
  );
  const connect = (address: string, port = 1) => {
    const peer = new Peer(address, port);
    return { peer, admitted: admitter.admitConnection(peer as unknown as Socket) };
  };
  return { connect, read, allowed };
}

describe('connections of addresses in no network of a system', () => {
  it('push out none of a carrier that has not bound yet, however many they are', async () => {
    const { connect, read } = newAdmitter();
    const carrier = connect(CARRIER);
    expect(await carrier.admitted).toBe(true);
    const strangers = Array.from({ length: 1_500 }, (_, at) => connect(`10.0.${at >> 8}.${at & 255}`));
    expect(carrier.peer.destroyed).toBe(false);
    read();
    expect(await Promise.all(strangers.map(({ admitted }) => admitted))).toEqual(strangers.map(() => false));
    expect(strangers.every(({ peer }) => peer.destroyed)).toBe(true);
    expect(carrier.peer.destroyed).toBe(false);
  });

  it('are admitted when a system that was just created allows them, and count like its own then', async () => {
    const { connect, read, allowed } = newAdmitter();
    allowed.add('10.0.0.1');
    const first = connect('10.0.0.1');
    read();
    expect(await first.admitted).toBe(true);
    const more = Array.from({ length: 20 }, (_, at) => connect('10.0.0.1', at + 2));
    expect(await Promise.all(more.map(({ admitted }) => admitted))).toEqual(more.map(() => true));
    // One more than a peer may have before its binds: its oldest goes.
    expect(first.peer.destroyed).toBe(true);
  });
});
