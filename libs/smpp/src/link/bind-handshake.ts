import { timingSafeEqual } from 'node:crypto';
import { bindAnswer, bindPdu, bindRequest, termsOfAnswer, termsOfBind } from './bind-terms.js';
import type { BindTerms } from './bind-terms.js';
import { STATUS, statusName } from '../pdu/dictionary.js';
import { NotSentError } from './link-errors.js';
import type { BindCall, LinkOptions } from './link-options.js';
import type { LinkEvent, LinkState } from './link-state.js';
import type { RequestPdu, Settlement } from './outbound-requests.js';
import type { BindPdu, OutbindFields, Outgoing, Pdu, PduOf } from '../pdu/pdu.js';
import { NO_TLVS } from '../pdu/tlv.js';
import { isBindAnswer } from './window.js';
import type { AnswerPdu } from './window.js';

/** How a bind of ours was answered. */
export interface BindOutcome {
  readonly status: number;
  readonly systemId: string;
}

interface DialogueOptions {
  readonly link: LinkOptions;
  state(): LinkState;
  /** False when the event means nothing in the present state. */
  move(event: LinkEvent): boolean;
  ask(pdu: RequestPdu, settlement: Settlement): void;
  tell(pdu: Outgoing<PduOf<'outbind'>>): void;
  send(pdu: Pdu): void;
  onBound(terms: BindTerms): void;
  close(reason: string): void;
}

/** Longer than any system_id or password, in octets: what is compared has one length. */
const SECRET_OCTETS = 16;
const padded = (text: string): Buffer => {
  const octets = Buffer.alloc(SECRET_OCTETS);
  octets.write(text, 'latin1');
  return octets;
};
/** In the same time for every pair of texts that fit their fields. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(padded(a), padded(b));

const OUTBIND_REFUSED = 'the outbind was refused: not the credentials agreed';

/** How a connection becomes a session: one bind, asked for by whoever is the ESME, and what it settles. */
export class BindHandshake {
  #terms: BindTerms | null = null;

  constructor(private readonly options: DialogueOptions) {}

  /** What both sides agreed on; null until then. */
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
      this.options.ask(bindPdu(call, link.interfaceVersion), {
        // In the turn of the answer, not in a continuation: a deliver_sm may stand right behind it.
        resolve: (answer) => resolve(this.#answered(call, answer)),
        reject: (error) => {
          reject(error);
          this.options.close(`bind: ${error.message}`);
        },
      });
    });
  }

  /** Throws NotSentError unless we are an SMSC that nobody has bound to, InvalidPduError when a field does not fit. */
  outbind(fields: OutbindFields): void {
    const { link } = this.options;
    const state = this.options.state();
    if (link.role !== 'smsc' || state !== 'open') {
      throw new NotSentError(`a link in role ${link.role} and state ${state} cannot outbind`);
    }
    this.options.tell({ command: 'outbind', status: 0, fields, tlvs: NO_TLVS });
  }

  /** False when outbinds are not agreed on here. */
  receiveOutbind(outbind: OutbindFields): boolean {
    const agreed = this.options.link.outbind;
    if (agreed === undefined) return false;
    const isKnown = isSame(outbind.systemId, agreed.systemId);
    // How it ends shows in the state and in the last error; whoever owns the link did not ask for it.
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

  #answered(call: BindCall, answer: AnswerPdu): BindOutcome {
    if (isBindAnswer(answer) && answer.status === STATUS.ESME_ROK) {
      this.#bound(termsOfAnswer(call, answer, this.options.link));
      return { status: STATUS.ESME_ROK, systemId: answer.fields.systemId };
    }
    // A generic_nack is a refusal, even one that says OK.
    const status = answer.status === STATUS.ESME_ROK ? STATUS.ESME_RBINDFAIL : answer.status;
    this.options.close(`the bind was refused: ${statusName(status)}`);
    return { status, systemId: '' };
  }

  #bound(terms: BindTerms): void {
    this.#terms = terms;
    this.options.onBound(terms);
  }
}
