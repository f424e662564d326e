import { isBindLease, type SendingLink } from '@countersign/carriers/leases';
import type { RouteTarget } from '@countersign/carriers/planning';
import { Injectable } from '@nestjs/common';
import { BindConnections } from '../binds/bind-connections.js';
import type { BindSender } from '../binds/bind-supervisor.js';
import type { LinkSender } from '../links/link-sender.js';
import { SystemSenders } from '../listener/system-senders.js';

/** The links over which this gateway can send codes now: connections of binds, and systems that are connected. */
@Injectable()
export class CodeSenders {
  constructor(
    private readonly binds: BindConnections,
    private readonly systems: SystemSenders,
  ) {}

  bindSenders(): BindSender[] {
    return this.binds.senders();
  }

  /** One for each connection of the bind, or one for the system; none when it cannot send from this gateway. */
  sendersOf({ bindId, systemId }: RouteTarget): LinkSender[] {
    if (bindId !== null) return this.binds.sendersOf(bindId);
    const sender = systemId === null ? null : this.systems.senderOf(systemId);
    return sender === null ? [] : [sender];
  }

  /** Null unless bound and able to send; for a bind under this lease. */
  senderOf(link: SendingLink): LinkSender | null {
    return isBindLease(link) ? this.binds.senderOfLease(link) : this.systems.senderOf(link.systemId);
  }

  /** The same, for a bind under whichever lease its slot is held now. */
  presentSenderOf(link: SendingLink): LinkSender | null {
    return isBindLease(link) ? this.binds.senderOfSlot(link) : this.systems.senderOf(link.systemId);
  }
}
