import type { Tenant } from '@countersign/keys';
import type { TokenBucket } from '@countersign/resilience';
import type { RawData, WebSocket } from 'ws';
import { BINARY_FRAME, parseClientFrame, type BadFrame, type ClientFrame, type FrameId } from './client-frame.js';
import { CLOSE, CLOSE_REASONS, type CloseCode } from './close-codes.js';
import { judgeFrame, messageRate, type Listener, type Verdict } from './connection-rules.js';
import type { RealtimeLimits } from './realtime-limits.js';
import { closingFrame, errorFrame, unsubscribedFrame, type FrameError } from './server-frame.js';

/** Unsent octets after which a slow reader is closed (contract, Realtime). */
const MAX_BEHIND_OCTETS = 1024 * 1024;
/** Unsent frames after which it is closed, however small they are: a `pong` takes ten times its octets in memory. */
const MAX_BEHIND_FRAMES = 4_096;
/** Octets that an unsent frame takes beside its own. */
const FRAME_OCTETS = 512;
/** Fewer buffered octets are not counted: every frame is buffered for a moment, and a change of a session has fewer. */
const MIN_COUNTED_OCTETS = 4 * 1024;
/** Messages that wait while one is handled: five seconds of them at 20 a second, more than any handling takes. */
const MAX_WAITING = 100;
/** Messages after the close frame, until the client answers it; after that many the connection is dropped. */
const MAX_AFTER_END = 1_000;
/** Time to authenticate (contract, Realtime). */
const AUTH_WITHIN_MS = 5_000;
/** Time for a peer that has not authenticated to answer the close frame. */
const UNAUTHENTICATED_CLOSE_MS = 1_000;
/** Extension, repeated, while a ticket that was received before the deadline is being redeemed. */
const AUTH_AGAIN_MS = 500;

/** Handles messages of one type. Must not reject. */
export type FrameHandler = (frame: ClientFrame) => Promise<void>;

/**
 * One WebSocket. Messages are handled one at a time in order of receipt, so responses keep that order. Its queues are
 * bounded: messages to be handled, and octets that the client has not read.
 */
export class RealtimeConnection {
  /** The removal callback of each subscription, by channel name. */
  readonly #removals = new Map<string, () => void>();
  /** Time of the last receipt, and of the first ping without a response. */
  lastReceivedMs: number;
  pingedMs: number | null = null;
  nextPingMs = 0;
  #listener: Listener;
  #handlers: ReadonlyMap<string, FrameHandler> = new Map();
  readonly #waiting: (ClientFrame | BadFrame)[] = [];
  #handling = false;
  #bad = 0;
  readonly #rate: TokenBucket;
  /** Pings and pongs cost as much as messages; a rate limit of their own, since they are no messages. */
  readonly #controlRate: TokenBucket;
  #afterEnd = 0;
  /** Whether its subscriptions were removed, because the socket has closed. */
  #isClosed = false;
  #closeCode: number | null = null;
  #closeTimer: NodeJS.Timeout | undefined;
  #isUnauthenticated: boolean;
  #countedOctets = 0;
  /** Frames that the system has not taken. */
  #unsentFrames = 0;
  #isDropped = false;

  constructor(
    private readonly socket: WebSocket,
    listener: Listener,
    readonly clientAddress: string,
    private readonly limits: RealtimeLimits,
    /** A monotonic clock. */
    private readonly nowMs: () => number,
  ) {
    this.#listener = listener;
    this.lastReceivedMs = nowMs();
    this.#rate = messageRate(this.lastReceivedMs);
    this.#controlRate = messageRate(this.lastReceivedMs);
    socket.on('message', (data, isBinary) => this.receive(data, isBinary));
    socket.on('ping', () => this.receiveControl());
    socket.on('pong', () => this.receiveControl());
    // Errors of the socket or of a frame close it; `close` handles that.
    socket.on('error', () => undefined);
    socket.once('close', () => this.count(0));
    this.#isUnauthenticated = listener.kind === 'nobody';
    if (this.#isUnauthenticated) this.#closeTimer = setTimeout(() => this.closeUnauthenticated(), AUTH_WITHIN_MS);
  }

  get listener(): Listener {
    return this.#listener;
  }

  /** Whether frames can still be sent. */
  get open(): boolean {
    return this.#closeCode === null && this.socket.readyState === this.socket.OPEN;
  }

  /** Sets the handlers by message type; messages are queued until then. */
  handleWith(handlers: ReadonlyMap<string, FrameHandler>): void {
    this.#handlers = handlers;
    this.handleNext();
  }

  /** Calls the listener with the code that the connection closed with. */
  onClose(listener: (code: number) => void): void {
    this.socket.once('close', (code) => {
      clearTimeout(this.#closeTimer);
      this.reportAuthenticatedOrClosed();
      this.#waiting.length = 0;
      this.#isClosed = true;
      for (const channel of [...this.#removals.keys()]) this.removeSubscription(channel);
      listener(this.#closeCode ?? code);
    });
  }

  /** Number of subscribed channels besides this one. */
  channelsBut(channel: string): number {
    return this.#removals.size - Number(this.#removals.has(channel));
  }

  /** Whether the account of its key may have one more subscription; a replaced subscription is not counted again. */
  accountHasCapacityFor(channel: string): boolean {
    const { counted } = this;
    return counted === null || this.#removals.has(channel) || this.limits.subscriptions.allows(counted);
  }

  /** Registers a subscription and removes an earlier one on the same channel. True if there was an earlier one. */
  addSubscription(channel: string, remove: () => void): boolean {
    if (this.#isClosed) {
      // The connection closed while the subscribe was handled: remove the subscription now.
      remove();
      return false;
    }
    const replaced = this.removeSubscription(channel);
    this.#removals.set(channel, remove);
    if (this.counted !== null) this.limits.subscriptions.add(this.counted);
    return replaced;
  }

  removeSubscription(channel: string): boolean {
    const remove = this.#removals.get(channel);
    if (remove === undefined) return false;
    this.#removals.delete(channel);
    remove();
    if (this.counted !== null) this.limits.subscriptions.remove(this.counted);
    return true;
  }

  /** Undoes a failed subscribe; sends `unsubscribed` when it had replaced a subscription. */
  undoSubscribe(channel: string, replaced: boolean): void {
    this.removeSubscription(channel);
    if (replaced) this.send(unsubscribedFrame(null, channel));
  }

  /** Authenticates the connection with a ticket; false when the account has too many connections. */
  admit(ticket: Extract<Listener, { kind: 'ticket' }>): boolean {
    // One that has ended while the ticket was looked up is not counted: nobody would count it out again.
    if (!this.open || !this.limits.reserveConnection(ticket.tenant)) return false;
    clearTimeout(this.#closeTimer);
    this.reportAuthenticatedOrClosed();
    this.count(0);
    this.#listener = ticket;
    this.recount();
    return true;
  }

  /** Sends a frame; closes the connection instead when the client reads too slowly. */
  send(frame: string | Buffer): void {
    if (!this.open) return;
    const isBehind = this.socket.bufferedAmount > MAX_BEHIND_OCTETS || this.#unsentFrames > MAX_BEHIND_FRAMES;
    if (isBehind) this.close(CLOSE.tooSlow);
    else this.write(frame, this.#onTaken);
  }

  /** As `send`; resolves once the system has taken all frames so far, or the connection is over. */
  sendAndFlush(frame: Buffer): Promise<void> {
    if (!this.open) return Promise.resolve();
    return new Promise((resolve) => {
      this.write(frame, () => {
        this.#onTaken();
        resolve();
      });
    });
  }

  refuse(id: FrameId | null, { error, close }: { readonly error: FrameError; readonly close: CloseCode | null }): void {
    this.send(errorFrame(id, error));
    if (close !== null) this.close(close);
  }

  close(code: CloseCode): void {
    if (this.#closeCode !== null) return;
    this.#closeCode = code;
    clearTimeout(this.#closeTimer);
    this.#waiting.length = 0;
    this.socket.close(code, CLOSE_REASONS[code]);
    if (this.#listener.kind === 'nobody') this.#closeTimer = setTimeout(() => this.drop(), UNAUTHENTICATED_CLOSE_MS);
  }

  /** Closes it at once because of a connection limit: sends the close frame and does not wait for the answer. */
  evict(): void {
    this.close(CLOSE.tooMany);
    this.drop();
  }

  /** Closes it at once because too much is buffered for clients that do not read: the close frame is behind all of it. */
  closeSlow(): void {
    this.close(CLOSE.tooSlow);
    this.drop();
  }

  /** Says goodbye, and when to come back. */
  dismiss(reconnectAfterMs: number): void {
    this.send(closingFrame(reconnectAfterMs));
    this.close(CLOSE.goingAway);
  }

  ping(): void {
    if (this.open) this.socket.ping(undefined, undefined, ignore);
  }

  /** Terminates the socket without a close frame: the peer does not respond. */
  drop(): void {
    this.#isDropped = true;
    this.count(0);
    this.socket.terminate();
  }

  /** The tenant that its channels count for. The listener of a connection with a key never changes. */
  private get counted(): Tenant | null {
    return this.#listener.kind === 'key' ? this.#listener.tenant : null;
  }

  private write(frame: string | Buffer, onTaken: () => void): void {
    this.#unsentFrames += 1;
    this.socket.send(frame, AS_TEXT, onTaken);
    this.recount();
  }

  readonly #onTaken = (): void => {
    this.#unsentFrames -= 1;
    this.recount();
  };

  private recount(): void {
    const octets = this.socket.bufferedAmount + this.#unsentFrames * FRAME_OCTETS;
    this.count(octets < MIN_COUNTED_OCTETS || this.#isDropped ? 0 : octets);
  }

  private count(octets: number): void {
    if (octets === this.#countedOctets) return;
    this.#countedOctets = octets;
    this.limits.setBuffered(this, this.#listener, octets);
  }

  private reportAuthenticatedOrClosed(): void {
    if (this.#isUnauthenticated) this.limits.endUnauthenticated(this);
    this.#isUnauthenticated = false;
  }

  private recordReceipt(): void {
    this.lastReceivedMs = this.nowMs();
    this.pingedMs = null;
  }

  private closeUnauthenticated(): void {
    if (this.#handling) this.#closeTimer = setTimeout(() => this.closeUnauthenticated(), AUTH_AGAIN_MS);
    else this.close(CLOSE.noAuthInTime);
  }

  private receiveControl(): void {
    this.recordReceipt();
    if (this.isOver()) return;
    if (!this.#controlRate.take(this.lastReceivedMs)) this.close(CLOSE.tooMany);
  }

  /** Whether input is ignored because the connection is closing. Input is read until the peer answers the close. */
  private isOver(): boolean {
    if (this.open) return false;
    this.#afterEnd += 1;
    if (this.#afterEnd > MAX_AFTER_END) this.drop();
    return true;
  }

  private receive(data: RawData, isBinary: boolean): void {
    this.recordReceipt();
    if (this.isOver()) return;
    if (!this.#rate.take(this.lastReceivedMs) || this.#waiting.length >= MAX_WAITING) {
      this.close(CLOSE.tooMany);
      return;
    }
    this.#waiting.push(isBinary || !Buffer.isBuffer(data) ? BINARY_FRAME : parseClientFrame(data.toString('utf8')));
    this.handleNext();
  }

  private handleNext(): void {
    if (this.#handling || this.#handlers.size === 0) return;
    const frame = this.#waiting.shift();
    if (frame === undefined) return;
    this.#handling = true;
    void this.handle(frame).finally(() => {
      this.#handling = false;
      this.handleNext();
    });
  }

  private async handle(frame: ClientFrame | BadFrame): Promise<void> {
    const verdict: Verdict = judgeFrame(this.#listener.kind, frame, this.#bad);
    if (verdict.kind === 'handle') {
      await this.#handlers.get(verdict.frame.type)?.(verdict.frame);
      return;
    }
    this.#bad += Number(verdict.counts);
    this.refuse(frame.id, verdict);
  }
}

/** Octets go out as the text that they are. */
const AS_TEXT = { binary: false };
/** A failed write closes the socket; `close` handles that. */
const ignore = (): void => undefined;
