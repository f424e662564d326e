import { MtMessageStore, OutboundQueue } from '@countersign/carriers/outbound';
import { RouteDirectory } from '@countersign/carriers/routes';
import { EventStore } from '@countersign/events';
import { Database, DatabaseClock } from '@countersign/postgres';
import { provideClass } from '@countersign/composition';
import { AttemptMaker } from './attempt-maker.js';
import { AttemptRecorder } from './attempt.recorder.js';
import { AttemptRunner } from './attempt.runner.js';
import { CodeSenders } from './code-senders.js';
import { CodeQueueGauges } from './code-queue.gauges.js';
import { MtPlanner } from './mt.planner.js';
import { DueQueries } from './due-queries.js';
import { MtClaimer } from './mt-claimer.js';
import { MtDispatchTriggers } from './mt-dispatch.triggers.js';
import { MtDispatcher } from './mt.dispatcher.js';
import { OtherGateways } from './other-gateways.js';
import { OutboundConsumer } from './outbound.consumer.js';
import { OutboundMetrics } from './outbound.metrics.js';
import { SubmitQueues } from './submit-queues.js';

/** Codes: due rows to submits, and their outcomes. */
export const outboundProviders = [
  provideClass(MtMessageStore, EventStore, DatabaseClock),
  OutboundQueue,
  provideClass(RouteDirectory, Database),
  OutboundMetrics,
  CodeQueueGauges,
  CodeSenders,
  SubmitQueues,
  OtherGateways,
  DueQueries,
  MtPlanner,
  MtClaimer,
  AttemptMaker,
  AttemptRecorder,
  AttemptRunner,
  MtDispatcher,
  MtDispatchTriggers,
  OutboundConsumer,
];
