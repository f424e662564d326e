import { Inject, Injectable } from '@nestjs/common';
import type { MessageAnswer } from '@countersign/smpp/link';
import type { MessagePdu } from '@countersign/smpp/pdu';
import type { InboundLink } from '../links/inbound-link.js';
import { ReceiptsService } from '../receipts/receipts.service.js';
import { InboundService } from './inbound.service.js';
import { kindOf } from './message-kind.js';

/** Passes on the messages of peers: delivery receipts, and MOs. */
@Injectable()
export class MessageRouter {
  constructor(
    @Inject(InboundService) private readonly inbound: Pick<InboundService, 'acceptMessage'>,
    @Inject(ReceiptsService) private readonly receipts: Pick<ReceiptsService, 'acceptReceipt' | 'acceptTextReceipt'>,
  ) {}

  /** Never rejects. */
  acceptMessage(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer {
    const read = kindOf(pdu, link.defaultAlphabet);
    switch (read.kind) {
      case 'mo':
        return this.inbound.acceptMessage(pdu, link);
      case 'receipt':
        return this.receipts.acceptReceipt(read.receipt, link);
      case 'text_receipt':
        return this.receipts
          .acceptTextReceipt(pdu, read.receipt, link)
          .then((answer) => answer ?? this.inbound.acceptMessage(pdu, link));
    }
  }
}
