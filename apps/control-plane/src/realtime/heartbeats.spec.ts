import { describe, expect, it } from 'vitest';
import { Heartbeats, type PingedConnection } from './heartbeats.js';

class Peer implements PingedConnection {
  pingedMs: number | null = null;
  pings = 0;
  dropped = false;
  constructor(public nextPingMs: number) {}
  ping(): void {
    this.pings += 1;
  }
  drop(): void {
    this.dropped = true;
  }
}

function beating(peer: Peer): (fromMs: number, toMs: number, onBeat?: (nowMs: number) => void) => void {
  let nowMs = 0;
  const heartbeats = new Heartbeats([peer], () => nowMs);
  return (fromMs, toMs, onBeat = () => undefined) => {
    for (nowMs = fromMs; nowMs <= toMs; nowMs += 1_000) {
      heartbeats.beat();
      onBeat(nowMs);
    }
  };
}

describe('heartbeats', () => {
  it('ping every 25 seconds, and keep connections that respond', () => {
    const peer = new Peer(25_000);
    const beat = beating(peer);
    beat(0, 100_000, () => (peer.pingedMs = null));
    expect(peer.pings).toBe(4);
    expect(peer.dropped).toBe(false);
  });

  it('drop a connection without a response for 10 seconds', () => {
    const peer = new Peer(25_000);
    const beat = beating(peer);
    beat(0, 34_000);
    expect(peer).toMatchObject({ pings: 1, dropped: false });
    beat(35_000, 35_000);
    expect(peer.dropped).toBe(true);
  });
});
