import type { Uuid } from '@countersign/ids';
import { Injectable } from '@nestjs/common';
import { NotSentError } from '@countersign/smpp/link';
import type { Outgoing, ResponsePdu, SubmitSm } from '@countersign/smpp/pdu';
import { NOT_TRUSTED, type LinkSender } from '../links/link-sender.js';
import { shareOfRate } from './message-rate.js';
import { SystemConnections } from './system-connections.js';
import type { SystemLink } from './system-link.js';
import { SystemLinks } from './system-links.js';

/** Sends codes to systems over the connections that they have bound as receiver or transceiver. */
@Injectable()
export class SystemSenders {
  constructor(
    private readonly links: SystemLinks,
    private readonly connections: SystemConnections,
  ) {}

  /** Null when the system has no connection to this gateway that can receive. */
  senderOf(systemId: Uuid): LinkSender | null {
    const receivers = this.links.receiversOf(systemId);
    const system = receivers[0]?.system ?? null;
    if (system === null) return null;
    const elsewhere = this.connections.receiversElsewhere(systemId);
    return {
      terms: system,
      link: { systemId },
      window: receivers.reduce((sum, { codeWindow }) => sum + codeWindow, 0),
      perSecond: shareOfRate(system.deliverPerSecond, receivers.length, elsewhere),
      submit: (pdu, endsMs) => deliver(receivers, pdu, endsMs),
    };
  }
}

/** Over the connection with most free slots: a code that waits for one within the link would not be checked again. */
function deliver(receivers: readonly SystemLink[], pdu: Outgoing<SubmitSm>, endsMs: number): Promise<ResponsePdu> {
  // A system may be trusted, and a connection that has not proved to be its own not.
  const allowed = pdu.isConfidential === true ? receivers.filter(({ isTrusted }) => isTrusted) : receivers;
  if (allowed.length === 0) return Promise.reject(new NotSentError(NOT_TRUSTED));
  const [freest] = [...allowed].sort((one, other) => other.freeSlots - one.freeSlots);
  if (freest === undefined || freest.freeSlots < 1) return Promise.reject(new NotSentError('no free window slot'));
  return freest.deliverCode(pdu, endsMs);
}
