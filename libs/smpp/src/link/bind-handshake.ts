import { timingSafeEqual } from 'node:crypto';
import { bindAnswer, bindPdu, bindRequest, termsOfAnswer, termsOfBind } from './bind-terms.js';
import type { BindTerms } from './bind-terms.js';
import { STATUS, statusName } from '../pdu/dictionary.js';
import { NotSentError } from './link-errors.js';
import type { BindCall, LinkOptions } from './link-options.js';
import type { LinkEvent, LinkState } from './link-state.js';
import type { RequestPdu, ResponseCallbacks } from './outbound-requests.js';
import type { BindPdu, OutbindFields, Outgoing, Pdu, PduOf } from '../pdu/pdu.js';
import { NO_TLVS } from '../pdu/tlv.js';
import { isBindAnswer } from './window.js';
import type { AnswerPdu } from './window.js';

/** The SMSC's answer to our bind. */
export interface BindOutcome {
  readonly status: number;
  readonly systemId: string;
}

interface BindHandshakeOptions {
  readonly link: LinkOptions;
  state(): LinkState;
  /** False when the event is not valid in the present state. */
  move(event: LinkEvent): boolean;
  sendBind(pdu: RequestPdu, callbacks: ResponseCallbacks): void;
  sendOutbind(pdu: Outgoing<PduOf<'outbind'>>): void;
  send(pdu: Pdu): void;
  onBound(terms: BindTerms): void;
  close(reason: string): void;
}

/** Longer than any system_id or password, in octets: both sides of a comparison have this length. */
const SECRET_OCTETS = 16;
const padded = (text: string): Buffer => {
  const octets = Buffer.alloc(SECRET_OCTETS);
  octets.write(text, 'latin1');
  return octets;
};
/** Constant time for every pair of texts that fit their fields. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(padded(a), padded(b));

const OUTBIND_REFUSED = 'the outbind was refused: wrong credentials';

/** The bind exchange of one connection, in either role, and the terms that result from it. */
export class BindHandshake {
  #terms: BindTerms | null = null;

  constructor(private readonly options: BindHandshakeOptions) {}

  /** The agreed terms; null before the bind. */
  get terms(): BindTerms | null {
    return this.#terms;
  }

  call(call: BindCall): Promise<BindOutcome> {
    const { link } = this.options;
    return new Promise((resolve, reject) => {
      if (link.role !== 'esme' || !this.options.move('bind')) {
        reject(new NotSentError(`a link in role ${link.role} and state ${this.options.state()} cannot bind`));
        return;
      }
      this.options.sendBind(bindPdu(call, link.interfaceVersion), {
        // Runs synchronously with the response, not in a continuation: a deliver_sm may follow in the same read.
        resolve: (answer) => resolve(this.#receiveBindResponse(call, answer)),
        reject: (error) => {
          reject(error);
          this.options.close(`bind: ${error.message}`);
        },
      });
    });
  }

  /** Throws NotSentError unless this link is an SMSC without a bind, InvalidPduError when a field does not fit. */
  outbind(fields: OutbindFields): void {
    const { link } = this.options;
    const state = this.options.state();
    if (link.role !== 'smsc' || state !== 'open') {
      throw new NotSentError(`a link in role ${link.role} and state ${state} cannot outbind`);
    }
    this.options.sendOutbind({ command: 'outbind', status: 0, fields, tlvs: NO_TLVS });
  }

  /** False when no outbind is agreed for this link. */
  receiveOutbind(outbind: OutbindFields): boolean {
    const agreed = this.options.link.outbind;
    if (agreed === undefined) return false;
    const isKnown = isSame(outbind.systemId, agreed.systemId);
    // The result is visible in `state` and `lastError`; the owner of the link did not start this bind.
    if (isSame(outbind.password, agreed.password) && isKnown) this.call(agreed.bind).catch(() => undefined);
    else this.options.close(OUTBIND_REFUSED);
    return true;
  }

  receive(bind: BindPdu): void {
    this.options.move('bind');
    const decided = async (): Promise<void> => {
      const verdict = await this.options.link.authenticate?.(bindRequest(bind));
      this.#decide(bind, verdict?.status ?? STATUS.ESME_RBINDFAIL);
    };
    decided().catch(() => this.#decide(bind, STATUS.ESME_RSYSERR));
  }

  #decide(bind: BindPdu, status: number): void {
    if (this.options.state() !== 'binding') return;
    this.options.send(bindAnswer(bind, status, this.options.link));
    if (status === STATUS.ESME_ROK) this.#bound(termsOfBind(bind, this.options.link.interfaceVersion));
    else this.options.close(`the bind was refused: ${statusName(status)}`);
  }

  #receiveBindResponse(call: BindCall, answer: AnswerPdu): BindOutcome {
    if (isBindAnswer(answer) && answer.status === STATUS.ESME_ROK) {
      this.#bound(termsOfAnswer(call, answer, this.options.link));
      return { status: STATUS.ESME_ROK, systemId: answer.fields.systemId };
    }
    // A generic_nack is a refusal, even with status ESME_ROK.
    const status = answer.status === STATUS.ESME_ROK ? STATUS.ESME_RBINDFAIL : answer.status;
    this.options.close(`the bind was refused: ${statusName(status)}`);
    return { status, systemId: '' };
  }

  #bound(terms: BindTerms): void {
    this.#terms = terms;
    this.options.onBound(terms);
  }
}
