interface UnbindSequenceOptions {
  /** Messages of the peer are still unanswered / requests of ours are. */
  inboundIsEmpty(): boolean;
  windowIsEmpty(): boolean;
  sendUnbind(onAnswer: () => void): void;
  answerUnbind(sequence: number): void;
  close(reason: string): void;
}

/** A peer's unbind waits at most so long for what is still open. */
const PEER_UNBIND_WAIT_MS = 5_000;

/** The reasons of a link that ended in order. */
export const UNBOUND = 'unbound';
export const PEER_UNBOUND = 'the peer unbound';

type Step = 'none' | 'draining' | 'asked' | 'answered' | 'peer-asked';

/**
 * How a link ends in order. Ours: what we asked is answered first, then unbind, then what the peer asked meanwhile, then
 * close. The peer's: everything open is settled, then unbind_resp, then close. Both within a time.
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
    this.#deadline = setTimeout(() => this.options.close('unbinding took too long'), timeoutMs);
    this.advance();
  }

  peerAsked(sequence: number): void {
    if (this.#step === 'peer-asked') {
      this.options.answerUnbind(sequence);
      return;
    }
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#step = 'peer-asked';
    this.#peerSequence = sequence;
    this.#deadline = setTimeout(() => this.#answerPeer(), PEER_UNBIND_WAIT_MS);
    this.advance();
  }

  /** Call whenever a request of either side was settled. */
  advance(): void {
    if (this.#step === 'draining' && this.options.windowIsEmpty()) {
      this.#step = 'asked';
      this.options.sendUnbind(() => {
        this.#step = 'answered';
        this.advance();
      });
    } else if (this.#step === 'answered' && this.options.inboundIsEmpty()) {
      this.options.close(UNBOUND);
    } else if (this.#step === 'peer-asked' && this.options.windowIsEmpty() && this.options.inboundIsEmpty()) {
      this.#answerPeer();
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
