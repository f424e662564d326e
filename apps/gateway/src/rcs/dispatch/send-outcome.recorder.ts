import { setTimeout as delay } from 'node:timers/promises';
import { PubSub } from '@countersign/bus';
import { CardSendStore } from '@countersign/rcs/offers';
import type { SendOutcome } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import { publishCardOutcomes } from './card-outcome-messages.js';
import { OfferErrorLog } from './offer-error.log.js';
import { RcsCommandProcessor } from './rcs-command.processor.js';

const RECORD_RETRY_MS = 250;

/** Records the outcomes of sends, and publishes them to the waiting creates after the commit. */
@Injectable()
export class SendOutcomeRecorder {
  constructor(
    @Inject(CardSendStore) private readonly sends: Pick<CardSendStore, 'recordSendOutcomes'>,
    @Inject(PubSub) private readonly bus: Pick<PubSub, 'publish'>,
    @Inject(RcsCommandProcessor) private readonly commands: Pick<RcsCommandProcessor, 'trigger'>,
    private readonly errors: OfferErrorLog,
  ) {}

  /** Retries until `deadlineMs` of the monotonic clock. Never rejects. */
  async recordOutcome(id: Uuid, outcome: SendOutcome, deadlineMs: number): Promise<void> {
    for (;;) {
      try {
        const recorded = await this.sends.recordSendOutcomes([{ id, outcome }]);
        publishCardOutcomes(this.bus, recorded);
        // A card that may still arrive after the fallback is revoked.
        if (mayArrive(outcome) && recorded.some(({ news }) => news === 'sms_fallback')) this.commands.trigger();
        return;
      } catch (error) {
        this.errors.report(error);
        // Not recorded: the card stays `sending`; events of the platform are applied to it all the same.
        if (performance.now() + RECORD_RETRY_MS > deadlineMs) return;
        await delay(RECORD_RETRY_MS);
      }
    }
  }
}

const mayArrive = ({ kind }: SendOutcome): boolean => kind === 'sent' || kind === 'unknown';
