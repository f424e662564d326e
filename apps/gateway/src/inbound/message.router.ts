import { Inject, Injectable } from '@nestjs/common';
import type { MessageAnswer } from '@countersign/smpp/link';
import { messageKind } from '@countersign/smpp/messages';
import type { MessagePdu } from '@countersign/smpp/pdu';
import type { InboundLink } from '../links/inbound-link.js';
import { ReceiptsService } from '../receipts/receipts.service.js';
import { InboundService } from './inbound.service.js';

/** Passes on the messages of peers: delivery receipts, and MOs. */
@Injectable()
export class MessageRouter {
  constructor(
    @Inject(InboundService) private readonly inbound: Pick<InboundService, 'acceptMessage'>,
    @Inject(ReceiptsService) private readonly receipts: Pick<ReceiptsService, 'acceptReceipt'>,
  ) {}

  /** Never rejects. */
  acceptMessage(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer {
    if (messageKind(pdu) === 'receipt') return this.receipts.acceptReceipt(pdu, link);
    return this.inbound.acceptMessage(pdu, link);
  }
}
