import type { DueEvent } from '@countersign/events';
import type { Executor } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { type BroadcastEvent, EventBroadcast } from './event-broadcast.js';
import type { AfterCommit, EventSubscriber } from './event.subscriber.js';

/** Broadcasts dispatched events to the realtime hubs of all control planes. */
@Injectable()
export class BroadcastSubscriber implements EventSubscriber {
  constructor(@Inject(EventBroadcast) private readonly broadcast: Pick<EventBroadcast, 'publish'>) {}

  handle(_tx: Executor, events: readonly DueEvent[]): Promise<AfterCommit> {
    return Promise.resolve(() => this.onDispatched(events));
  }

  private onDispatched(events: readonly DueEvent[]): void {
    this.broadcast.publish(events.map(broadcastEventOf));
  }
}

const broadcastEventOf = ({ id, type, sessionId, accountId, test, occurredAt }: DueEvent): BroadcastEvent => ({
  ...{ id, type, sessionId, accountId, test },
  at: occurredAt.toISOString(),
});
