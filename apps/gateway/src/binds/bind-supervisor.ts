import { setTimeout as delay } from 'node:timers/promises';
import { bindPassword, type Bind } from '@countersign/carriers';
import type { ServerKeys } from '@countersign/keys';
import {
  SmppLink,
  STATUS,
  statusName,
  type LinkOptions,
  type MessageAnswer,
  type MessagePdu,
  type Outgoing,
  type ResponsePdu,
  type SubmitSm,
} from '@countersign/smpp';
import type { InboundLink } from '../inbound/inbound-link.js';
import { afterAttempt, FRESH_COURSE, type AttemptEnd, type Course } from './backoff.js';
import { bindCallOf, isSameConnection, linkOptionsOf } from './bind-options.js';
import { connect } from './connect.js';

/** Name look-up, connection and TLS handshake together. */
const CONNECT_TIMEOUT_MS = 5_000;

export type BindState = 'connecting' | 'binding' | 'bound' | 'draining' | 'standoff' | 'unbound';

/** Why a state was entered and what comes next; nothing secret. */
export interface BindNote {
  readonly host?: string;
  readonly reason?: string;
  readonly retryInMs?: number;
}

/** A way to send by a bind that is bound now. */
export interface BindSender {
  readonly bind: Bind;
  /** Rejects as `SmppLink.request`: with NotSentError when it was not sent, else its fate is unknown. */
  submit(pdu: Outgoing<SubmitSm>): Promise<ResponsePdu>;
}

export interface SupervisorOptions {
  readonly keys: ServerKeys;
  onMessage(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer;
  readonly onPdu: NonNullable<LinkOptions['onPdu']>;
  /** Told of every state that the bind enters. */
  onState(bind: Bind, from: BindState, to: BindState, note: BindNote): void;
}

/** Keeps one bind of ours bound: one connection, its hosts in turn, with backoff and standoff, until it is stopped. */
export class BindSupervisor {
  #bind: Bind;
  #course: Course = FRESH_COURSE;
  #state: BindState = 'unbound';
  #link: SmppLink | null = null;
  #stopping = false;
  /** Aborted to end the present attempt or wait at once; each attempt has its own. */
  #turn = new AbortController();
  readonly #ended: Promise<void>;

  constructor(
    bind: Bind,
    private readonly o: SupervisorOptions,
  ) {
    this.#bind = bind;
    this.#ended = this.supervise();
  }

  get state(): BindState {
    return this.#state;
  }

  /** Null unless it is bound and may send. */
  get sender(): BindSender | null {
    const link = this.#link;
    if (this.#state !== 'bound' || link === null || this.#bind.bindType === 'receiver') return null;
    return { bind: this.#bind, submit: (pdu) => link.request(pdu) };
  }

  /** Takes the row on as it is now. The link is made anew only where it would be another connection. */
  async adopt(bind: Bind, drainMs: number): Promise<void> {
    const before = this.#bind;
    this.#bind = bind;
    if (isSameConnection(before, bind)) return;
    this.#course = FRESH_COURSE;
    await this.cut(drainMs);
  }

  /** Makes no further attempt; a link that is bound stays until it ends. */
  stopReconnecting(): void {
    this.#stopping = true;
    if (this.#state !== 'bound') this.#turn.abort();
  }

  /** Answers what came in, unbinds within that time, and does not come back. */
  async stop(drainMs: number): Promise<void> {
    this.#stopping = true;
    await this.cut(drainMs);
    await this.#ended;
  }

  private async cut(drainMs: number): Promise<void> {
    // First, so that the end of the link is not taken for a loss.
    this.#turn.abort();
    if (this.#state === 'draining') return;
    if (this.#state === 'bound') {
      this.enter('draining', {});
      await this.#link?.unbind(drainMs).catch(() => undefined);
    }
    this.#link?.destroy('the bind was stopped or changed');
  }

  private async supervise(): Promise<void> {
    while (!this.isStopping()) {
      this.#turn = new AbortController();
      const { signal } = this.#turn;
      const { end, reason } = await this.attempt(signal);
      this.#link = null;
      if (signal.aborted || this.isStopping()) {
        this.enter('unbound', { reason });
        continue;
      }
      const next = afterAttempt(this.#course, end, this.#bind.hosts.length, Math.random());
      this.#course = next.course;
      this.enter(next.standoff ? 'standoff' : 'unbound', { reason, retryInMs: next.waitMs });
      await delay(next.waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** One connection from its beginning to its end. */
  private async attempt(signal: AbortSignal): Promise<{ end: AttemptEnd; reason: string }> {
    const bind = this.#bind;
    const at = bind.hosts[this.#course.host % bind.hosts.length];
    if (at === undefined) return { end: { kind: 'unreachable' }, reason: 'the bind has no host' };
    const host = `${at.host}:${at.port}`;
    try {
      // First of all: a password that cannot be opened is no reason to knock.
      const password = bindPassword(this.o.keys, bind);
      this.enter('connecting', { host });
      const socket = await connect(at, bind.tls, CONNECT_TIMEOUT_MS, signal);
      if (signal.aborted) socket.destroy();
      const link = new SmppLink(socket, {
        ...linkOptionsOf(bind),
        onMessage: (pdu) => this.o.onMessage(pdu, this.#bind),
        sendAgainStatus: () => this.#bind.retryableMoStatus,
        onPdu: this.o.onPdu,
      });
      this.#link = link;
      this.enter('binding', { host });
      const { status } = await link.bind(bindCallOf(bind, password));
      return await this.hold(link, status, host);
    } catch (error) {
      this.#link?.destroy('the bind failed');
      return { end: { kind: 'unreachable' }, reason: error instanceof Error ? error.message : 'failed' };
    }
  }

  /** From the answer to the bind until the link is over. */
  private async hold(link: SmppLink, status: number, host: string): Promise<{ end: AttemptEnd; reason: string }> {
    if (status !== STATUS.ESME_ROK) {
      link.destroy('the bind was refused');
      return { end: { kind: 'refused', status }, reason: `the bind was refused with ${statusName(status)}` };
    }
    const boundAtMs = performance.now();
    this.enter('bound', { host });
    const { reason } = await link.closed;
    return { end: { kind: 'lost', boundMs: performance.now() - boundAtMs }, reason };
  }

  private enter(state: BindState, note: BindNote): void {
    const from = this.#state;
    this.#state = state;
    this.o.onState(this.#bind, from, state, note);
  }

  private isStopping(): boolean {
    return this.#stopping;
  }
}
