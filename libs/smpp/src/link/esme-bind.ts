import { bindPdu, termsOfAnswer } from './bind-terms.js';
import type { BindTerms } from './bind-terms.js';
import { credentialsEqual } from './credentials-equal.js';
import { STATUS, statusName } from '../pdu/dictionary.js';
import type { NotSentError } from './link-errors.js';
import type { BindCall, EsmeEndpoint } from './link-options.js';
import type { OutboundRequests } from './outbound-requests.js';
import type { OutbindFields } from '../pdu/pdu.js';
import { isBindAnswer } from './window.js';
import type { AnswerPdu } from './window.js';

/** The SMSC's answer to our bind. */
export interface BindOutcome {
  readonly status: number;
  readonly systemId: string;
}

interface EsmeBindOptions {
  readonly endpoint: EsmeEndpoint;
  readonly requests: OutboundRequests;
  /** Moves the link to `binding`; returns the error when its state does not allow it. */
  begin(): NotSentError | null;
  onBound(terms: BindTerms): void;
  close(reason: string): void;
}

const OUTBIND_REFUSED = 'the outbind was refused: wrong credentials';

/** The bind that this side sends, as the ESME. */
export class EsmeBind {
  constructor(private readonly options: EsmeBindOptions) {}

  call(call: BindCall): Promise<BindOutcome> {
    return new Promise((resolve, reject) => {
      const invalid = this.options.begin();
      if (invalid !== null) {
        reject(invalid);
        return;
      }
      this.options.requests.sendUrgent(bindPdu(call, this.options.endpoint.interfaceVersion), {
        // Runs synchronously with the response, not in a continuation: a deliver_sm may follow in the same read.
        resolve: (answer) => resolve(this.#receiveBindResponse(call, answer)),
        reject: (error) => {
          reject(error);
          this.options.close(`bind: ${error.message}`);
        },
      });
    });
  }

  /** False when no outbind is agreed for this link. */
  receiveOutbind(outbind: OutbindFields): boolean {
    const agreed = this.options.endpoint.outbind;
    if (agreed === undefined) return false;
    const isKnown = credentialsEqual(outbind.systemId, agreed.systemId);
    // The result is visible in `state` and `lastError`; the owner of the link did not start this bind.
    if (credentialsEqual(outbind.password, agreed.password) && isKnown) this.call(agreed.bind).catch(() => undefined);
    else this.options.close(OUTBIND_REFUSED);
    return true;
  }

  #receiveBindResponse(call: BindCall, answer: AnswerPdu): BindOutcome {
    if (isBindAnswer(answer) && answer.status === STATUS.ESME_ROK) {
      this.options.onBound(termsOfAnswer(call, answer, this.options.endpoint));
      return { status: STATUS.ESME_ROK, systemId: answer.fields.systemId };
    }
    // A generic_nack is a refusal, even with status ESME_ROK.
    const status = answer.status === STATUS.ESME_ROK ? STATUS.ESME_RBINDFAIL : answer.status;
    this.options.close(`the bind was refused: ${statusName(status)}`);
    return { status, systemId: '' };
  }
}
