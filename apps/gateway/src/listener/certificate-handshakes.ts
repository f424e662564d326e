import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { connectionName } from '@countersign/tls';
import { BindLockout } from './bind-lockout.js';
import { peerNetwork } from './networks.js';

/** TLS handshakes at a time of peers that have not completed one. */
const MAX_OF_NEW_PEERS = 4;
/** After this time such a handshake ends for one that waits: an honest one takes two round trips. */
const YIELD_MS = 1_500;
/** How long a connection waits for its handshake. */
const WAIT_MS = 10_000;
/** With so few octets received, a failed handshake had no certificate or a small one. */
const WITHOUT_CHAIN_OCTETS = 2 * 1024;
/**
 * Octets of failed handshakes of all new peers, beyond `WITHOUT_CHAIN_OCTETS` each: at once, and in a second. OpenSSL verifies
 * the 100 KiB of certificates that it accepts in 0.36 s of the main thread, so these cost 6 % of it.
 */
const MAX_FAILED_OCTETS = 128 * 1024;
const FAILED_OCTETS_PER_SECOND = 16 * 1024;
/** Peers that have completed a handshake; the first is forgotten for a new one. */
const MAX_KNOWN_PEERS = 10_000;

interface Handshake {
  readonly socket: Socket;
  /** See `connectionName`. */
  readonly name: string;
  readonly peer: string;
  readonly start: () => void;
  timer: NodeJS.Timeout;
  /** It ends for one that waits. */
  yields: boolean;
}

/**
 * TLS handshakes in which peers send certificates: Node has no limit for a chain, and OpenSSL verifies it before it knows whether
 * it leads to the client CA. A peer (an address, or a /64 of IPv6) has one handshake at a time, and a failed one with a chain
 * counts as a failed bind. Peers that have not completed a handshake share `MAX_OF_NEW_PEERS` and the limit of failed octets;
 * beyond that they are closed.
 */
@Injectable()
export class CertificateHandshakes {
  readonly #waiting = new Set<Handshake>();
  /** By peer. */
  readonly #underWay = new Map<string, Handshake>();
  readonly #known = new Set<string>();
  #failedOctets = 0;
  #countedMs = performance.now();

  constructor(private readonly lockout: BindLockout) {}

  /** Calls `start` when the connection may begin its handshake. The connection is closed if that takes 10 s. */
  begin(socket: Socket, start: () => void): void {
    const peer = peerNetwork(socket.remoteAddress ?? '');
    const timer = setTimeout(() => void socket.destroy(), WAIT_MS);
    const handshake: Handshake = { socket, name: connectionName(socket), peer, start, timer, yields: false };
    socket.once('close', () => this.onClosed(handshake));
    this.#waiting.add(handshake);
    this.startWaiting();
  }

  /** The handshake of this TLS connection is complete, with a certificate that the client CA signed. */
  complete(secured: Socket): void {
    const peer = peerNetwork(secured.remoteAddress ?? '');
    const handshake = this.#underWay.get(peer);
    if (handshake === undefined || handshake.name !== connectionName(secured)) return;
    this.#known.add(peer);
    const [first] = this.#known;
    if (this.#known.size > MAX_KNOWN_PEERS && first !== undefined) this.#known.delete(first);
    this.end(handshake);
  }

  private onClosed(handshake: Handshake): void {
    const { socket, peer } = handshake;
    if (this.#underWay.get(peer) === handshake) {
      const octets = socket.bytesRead - WITHOUT_CHAIN_OCTETS;
      if (octets > 0) {
        this.lockout.recordFailure(peer);
        if (!this.#known.has(peer)) this.#failedOctets = this.failedOctets() + octets;
      }
    }
    this.end(handshake);
  }

  private end(handshake: Handshake): void {
    clearTimeout(handshake.timer);
    this.#waiting.delete(handshake);
    if (this.#underWay.get(handshake.peer) === handshake) this.#underWay.delete(handshake.peer);
    this.startWaiting();
  }

  private startWaiting(): void {
    for (const handshake of this.#waiting) {
      const { socket, peer } = handshake;
      const before = this.#underWay.get(peer);
      if (before !== undefined) this.yieldSilent(before);
      else if (this.lockout.isLockedOut(peer)) socket.destroy();
      else if (this.#known.has(peer)) this.start(handshake);
      else if (this.failedOctets() > MAX_FAILED_OCTETS) socket.destroy();
      else if (this.hasRoom()) this.start(handshake);
    }
  }

  /** A connection that sends nothing holds up no other of its peer for long. */
  private yieldSilent({ socket, yields }: Handshake): void {
    if (yields && socket.bytesRead === 0) socket.destroy();
  }

  /** Whether one more new peer may begin; when all others are slow, the oldest of them is closed, and calls again. */
  private hasRoom(): boolean {
    const ofNew = [...this.#underWay.values()].filter(({ peer }) => !this.#known.has(peer));
    if (ofNew.length < MAX_OF_NEW_PEERS) return true;
    ofNew.find(({ yields }) => yields)?.socket.destroy();
    return false;
  }

  private start(handshake: Handshake): void {
    clearTimeout(handshake.timer);
    handshake.timer = setTimeout(() => {
      handshake.yields = true;
      this.startWaiting();
    }, YIELD_MS);
    this.#waiting.delete(handshake);
    this.#underWay.set(handshake.peer, handshake);
    handshake.start();
  }

  /** The octets that count now. */
  private failedOctets(): number {
    const nowMs = performance.now();
    const endedOctets = ((nowMs - this.#countedMs) / 1_000) * FAILED_OCTETS_PER_SECOND;
    this.#failedOctets = Math.max(0, this.#failedOctets - endedOctets);
    this.#countedMs = nowMs;
    return this.#failedOctets;
  }
}
