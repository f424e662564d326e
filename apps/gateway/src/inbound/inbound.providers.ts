import { ConcatenationStore, MessageStore } from '@countersign/carriers/inbound';
import { SenderFormatStore } from '@countersign/carriers/senders';
import { ServerKeys } from '@countersign/keys';
import { provideClass } from '@countersign/composition';
import { ArrivalReader } from './arrival.reader.js';
import { InboundBatch } from './inbound-batch.js';
import { InboundMetrics } from './inbound.metrics.js';
import { InboundService } from './inbound.service.js';
import { MessageRouter } from './message.router.js';
import { ParkedPartsGauge } from './parked-parts.gauge.js';
import { SenderLearner } from './sender-learner.js';
import { SessionMatcher } from './session.matcher.js';
import { TextLimits } from './text-limits.js';

/** MOs: from the PDU to the response. */
export const inboundProviders = [
  provideClass(ConcatenationStore, ServerKeys),
  MessageStore,
  provideClass(SenderFormatStore, ServerKeys),
  InboundMetrics,
  ParkedPartsGauge,
  SenderLearner,
  ArrivalReader,
  SessionMatcher,
  InboundBatch,
  provideClass(TextLimits, InboundMetrics),
  InboundService,
  MessageRouter,
];
