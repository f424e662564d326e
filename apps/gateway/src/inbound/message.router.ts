import { Inject, Injectable } from '@nestjs/common';
import type { MessageAnswer } from '@countersign/smpp/link';
import type { MessagePdu } from '@countersign/smpp/pdu';
import type { InboundLink } from '../links/inbound-link.js';
import { ReceiptsService } from '../receipts/receipts.service.js';
import { InboundService } from './inbound.service.js';
import { isMarkedAsReceipt, kindOf } from './message-kind.js';
import { TextLimits } from './text-limits.js';

/** Passes on the messages of peers: delivery receipts, and MOs. */
@Injectable()
export class MessageRouter {
  constructor(
    @Inject(InboundService)
    private readonly inbound: Pick<InboundService, 'limitSender' | 'acceptMessage' | 'storeMessage'>,
    @Inject(ReceiptsService) private readonly receipts: Pick<ReceiptsService, 'acceptReceipt' | 'acceptTextReceipt'>,
    @Inject(TextLimits) private readonly textLimits: Pick<TextLimits, 'limitText' | 'pauseMs'>,
  ) {}

  /** Milliseconds for which the link is not to be read; to be asked after each read. */
  pauseMs(link: InboundLink): number {
    return this.textLimits.pauseMs(link);
  }

  /**
   * A message that is not marked as a receipt may be written by a phone's user: it takes a token of its sender's rate,
   * once, before its text is read. Never rejects.
   */
  acceptMessage(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer {
    const overLimit = this.textLimits.limitText(pdu, link);
    if (overLimit !== null) return overLimit;
    if (isMarkedAsReceipt(pdu)) return this.acceptMarked(pdu, link);
    const receivedMs = performance.now();
    const refusal = this.inbound.limitSender(pdu, link, receivedMs);
    if (refusal !== null) return refusal;
    const read = kindOf(pdu, link.defaultAlphabet, false);
    if (read.kind === 'receipt') return this.receipts.acceptReceipt(read.receipt, link);
    const { message } = read;
    if (read.kind === 'mo') return this.inbound.storeMessage(pdu, link, receivedMs, message ?? undefined);
    return this.receipts
      .acceptTextReceipt(pdu, read.receipt, link)
      .then((answer) => answer ?? this.inbound.storeMessage(pdu, link, receivedMs, read.message));
  }

  /** Only a carrier marks messages. Such a receipt has no rate by sender; an MO that is marked by mistake has. */
  private acceptMarked(pdu: MessagePdu, link: InboundLink): Promise<MessageAnswer> | MessageAnswer {
    const read = kindOf(pdu, link.defaultAlphabet, true);
    return read.kind === 'receipt'
      ? this.receipts.acceptReceipt(read.receipt, link)
      : this.inbound.acceptMessage(pdu, link, read.message ?? undefined);
  }
}
