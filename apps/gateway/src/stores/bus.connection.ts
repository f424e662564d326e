import { JobNotifier, PubSub } from '@countersign/bus';
import { Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';

/** The connections of the job notifier and the bus. */
@Injectable()
export class BusConnection {
  constructor(
    private readonly notifier: JobNotifier,
    private readonly bus: PubSub,
  ) {}

  @OnStop('close the bus')
  async close(): Promise<void> {
    await Promise.all([this.notifier.close(), this.bus.close()]);
  }
}
