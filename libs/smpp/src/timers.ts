/** The five timers of a link (SMPP 3.4 section 7.2, and the PDU-read timer), in milliseconds. 0 turns one off. */
export interface LinkTimers {
  /** From the connection to a successful bind. */
  readonly sessionInitMs: number;
  /** From the first octet of a PDU to its last. */
  readonly pduReadMs: number;
  /** An enquire_link goes out when the peer has answered nothing for so long; no answer within `responseMs` closes. */
  readonly enquireLinkMs: number;
  /** From a request to its answer: ours, and the peer's that a handler holds. */
  readonly responseMs: number;
  /** Without any message; enquire_link does not count. Closes a quiet link, so 0 where quiet is normal. */
  readonly inactivityMs: number;
}
