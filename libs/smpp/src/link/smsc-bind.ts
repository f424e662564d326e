import { bindAnswer, bindRequest, termsOfBind } from './bind-terms.js';
import type { BindTerms } from './bind-terms.js';
import { STATUS, statusName } from '../pdu/dictionary.js';
import type { SmscEndpoint } from './link-options.js';
import type { LinkState } from './link-state.js';
import type { BindPdu, Pdu } from '../pdu/pdu.js';

interface SmscBindOptions {
  readonly endpoint: SmscEndpoint;
  state(): LinkState;
  send(pdu: Pdu): void;
  onBound(terms: BindTerms): void;
  close(reason: string): void;
}

/** The bind that this side receives, as the SMSC. */
export class SmscBind {
  constructor(private readonly options: SmscBindOptions) {}

  /** Decides and answers a bind; the link is `binding`. */
  receive(bind: BindPdu): void {
    const decided = async (): Promise<void> => {
      const verdict = await this.options.endpoint.authenticate?.(bindRequest(bind));
      this.#decide(bind, verdict?.status ?? STATUS.ESME_RBINDFAIL);
    };
    decided().catch(() => this.#decide(bind, STATUS.ESME_RSYSERR));
  }

  #decide(bind: BindPdu, status: number): void {
    if (this.options.state() !== 'binding') return;
    const { endpoint } = this.options;
    this.options.send(bindAnswer(bind, status, endpoint));
    if (status === STATUS.ESME_ROK) this.options.onBound(termsOfBind(bind, endpoint.interfaceVersion));
    else this.options.close(`the bind was refused: ${statusName(status)}`);
  }
}
