import { Injectable } from '@nestjs/common';
import { BindConnections } from '../binds/bind-connections.js';
import { SystemLinks } from '../listener/system-links.js';
import { AttemptRecorder } from './attempt.recorder.js';
import { MtDispatcher } from './mt.dispatcher.js';
import { OtherGateways } from './other-gateways.js';

/**
 * Triggers the dispatcher when messages may be due or can be sent, so that they do not wait for the next poll, and lets it
 * record its attempts before the lease of a connection is released.
 */
@Injectable()
export class MtDispatchTriggers {
  constructor(
    dispatcher: MtDispatcher,
    connections: BindConnections,
    systems: SystemLinks,
    others: OtherGateways,
    recorder: AttemptRecorder,
  ) {
    connections.beforeRelease((lease) => dispatcher.waitForRecords(lease));
    connections.onBound(() => dispatcher.trigger());
    systems.onReceiverBound(() => dispatcher.trigger());
    others.onDeferred(() => dispatcher.triggerAfterHandOver());
    recorder.onRecorded((records) => dispatcher.triggerAfterRecords(records));
  }
}
