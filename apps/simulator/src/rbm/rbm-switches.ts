/** Faults of the simulated RBM service. */
export interface RbmFaults {
  /** Every event is sent twice. */
  readonly duplicate: boolean;
  /** The delivery event of a message is sent after its successor, or a second late. */
  readonly reorder: boolean;
  readonly dropDelivered: boolean;
  readonly corruptSignature: boolean;
  readonly wrongAgent: boolean;
  readonly omitSendTime: boolean;
  readonly omitType: boolean;
  /** The two readings of a revoke: always 200, or 404 for delivered messages. */
  readonly revokeMode: 'always200' | 'strict';
  readonly duplicateIdStatus: 200 | 409;
  /** Agents that the service account owns; null: all. */
  readonly agents: readonly string[] | null;
  /** The status of every answer to a send; null: the real one. */
  readonly sendStatus: number | null;
  /** Delay before a send is answered; the message is processed before it. */
  readonly sendDelayMs: number;
  /** Messages are accepted, but no send is answered. */
  readonly muteSend: boolean;
  readonly tokenStatus: number | null;
  readonly tokenSeconds: number;
  /** Whether `secret: <value>`, the answer of Google's samples, is accepted too. */
  readonly handshake: 'strict' | 'lenient';
  /** Null: events are sent nowhere. */
  readonly webhookUrl: string | null;
  /** Doubled with each attempt. */
  readonly retryAfterMs: number;
}

const WELL_BEHAVED: RbmFaults = {
  duplicate: false,
  reorder: false,
  dropDelivered: false,
  corruptSignature: false,
  wrongAgent: false,
  omitSendTime: false,
  omitType: false,
  revokeMode: 'always200',
  duplicateIdStatus: 200,
  agents: null,
  sendStatus: null,
  sendDelayMs: 0,
  muteSend: false,
  tokenStatus: null,
  tokenSeconds: 3599,
  handshake: 'strict',
  webhookUrl: null,
  retryAfterMs: 250,
};

/** The current switches. Switches that a change does not name are unchanged. */
export class RbmSwitches {
  #faults: RbmFaults;

  constructor(changes: Partial<RbmFaults> = {}) {
    this.#faults = { ...WELL_BEHAVED, ...changes };
  }

  get current(): RbmFaults {
    return this.#faults;
  }

  set(changes: Partial<RbmFaults>): void {
    this.#faults = { ...this.#faults, ...changes };
  }
}
