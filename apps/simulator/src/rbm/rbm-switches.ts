/** How the RBM service that is played here misbehaves. */
export interface RbmFaults {
  /** Every event is told twice. */
  readonly duplicate: boolean;
  /** The delivery of a message is told after what follows it, or a second late. */
  readonly reorder: boolean;
  readonly dropDelivered: boolean;
  readonly corruptSignature: boolean;
  readonly wrongAgent: boolean;
  readonly omitSendTime: boolean;
  readonly omitType: boolean;
  /** The two readings of a revoke: always 200, or 404 for what was delivered. */
  readonly revokeMode: 'always200' | 'strict';
  readonly duplicateIdStatus: 200 | 409;
  /** Agents that the service account owns; null: every one. */
  readonly agents: readonly string[] | null;
  /** Sends are answered so; null: truly. */
  readonly sendStatus: number | null;
  /** Before a send is answered; the message is under way by then. */
  readonly sendDelayMs: number;
  /** Messages are taken, but no send is answered. */
  readonly muteSend: boolean;
  readonly tokenStatus: number | null;
  readonly tokenSeconds: number;
  /** Whether `secret: <value>`, the answer of Google's samples, passes too. */
  readonly handshake: 'strict' | 'lenient';
  /** Null: nobody is told. */
  readonly webhookUrl: string | null;
  /** Doubled with each try. */
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

/** The switches as they stand. A switch that is not named in a change stays as it is. */
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
