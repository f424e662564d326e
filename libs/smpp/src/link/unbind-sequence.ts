interface UnbindSequenceOptions {
  /** True when every message of the peer is answered / every request of ours is. */
  inboundIsEmpty(): boolean;
  windowIsEmpty(): boolean;
  sendUnbind(callbacks: { readonly resolve: () => void; readonly reject: (error: Error) => void }): void;
  answerUnbind(sequence: number): void;
  close(reason: string): void;
}

/** Maximum delay of the end of a link that the peer ends, by an unbind or by FIN, while requests are open. */
const PEER_END_WAIT_MS = 5_000;

/** Close reasons of an orderly end. */
export const UNBOUND = 'unbound';
export const PEER_UNBOUND = 'the peer unbound';
/** Close reason of a peer that closes without an unbind. */
export const PEER_CLOSED = 'the peer closed the connection';

type Step = 'none' | 'draining' | 'unbind_sent' | 'unbind_answered' | 'peer_requested' | 'peer_closed';

/**
 * The orderly end of a link. Ours: our open requests are answered, then unbind, then the peer's remaining messages
 * are answered, then close. The peer's: all open requests are answered, then unbind_resp, then close. A peer that closes
 * its sending side only (FIN) gets the answers to its messages, then close. All have a deadline.
 */
export class UnbindSequence {
  #step: Step = 'none';
  #peerSequence = 0;
  #deadline: NodeJS.Timeout | null = null;

  constructor(private readonly options: UnbindSequenceOptions) {}

  get hasBegun(): boolean {
    return this.#step !== 'none';
  }

  begin(timeoutMs: number): void {
    if (this.hasBegun) return;
    this.#step = 'draining';
    this.#deadline = setTimeout(() => this.options.close('unbind timed out'), timeoutMs);
    this.advance();
  }

  peerRequested(sequence: number): void {
    if (this.#step === 'peer_requested') {
      this.options.answerUnbind(sequence);
      return;
    }
    this.stop();
    this.#step = 'peer_requested';
    this.#peerSequence = sequence;
    this.#deadline = setTimeout(() => this.#answerPeer(), PEER_END_WAIT_MS);
    this.advance();
  }

  /** The peer sends nothing more, and answers nothing. Its unbind is still answered, if it sent one. */
  peerClosed(): void {
    if (this.#step === 'peer_requested') return;
    this.stop();
    this.#step = 'peer_closed';
    this.#deadline = setTimeout(() => this.options.close(PEER_CLOSED), PEER_END_WAIT_MS);
  }

  /** Call whenever a request of either side was answered. */
  advance(): void {
    if (this.#step === 'draining' && this.options.windowIsEmpty()) {
      this.#step = 'unbind_sent';
      this.options.sendUnbind({
        resolve: () => {
          this.#step = 'unbind_answered';
          this.advance();
        },
        reject: (error) => {
          if (this.#step === 'unbind_sent') this.options.close(`unbind: ${error.message}`);
        },
      });
    } else if (this.#step === 'unbind_answered' && this.options.inboundIsEmpty()) {
      this.options.close(UNBOUND);
    } else if (this.#step === 'peer_requested' && this.options.windowIsEmpty() && this.options.inboundIsEmpty()) {
      this.#answerPeer();
    } else if (this.#step === 'peer_closed' && this.options.inboundIsEmpty()) {
      this.options.close(PEER_CLOSED);
    }
  }

  stop(): void {
    if (this.#deadline !== null) clearTimeout(this.#deadline);
  }

  #answerPeer(): void {
    this.options.answerUnbind(this.#peerSequence);
    this.options.close(PEER_UNBOUND);
  }
}
