import type { Uuid } from '@countersign/ids';

/**
 * Notifies the outbox dispatcher of events that this process itself has committed. The call is direct: a job would come
 * back through the queue later, and would be lost with it.
 */
export class EventJobNotifier {
  private listener: (ids: readonly Uuid[]) => void = () => undefined;

  connect(listener: (ids: readonly Uuid[]) => void): void {
    this.listener = listener;
  }

  notify(ids: readonly Uuid[]): void {
    this.listener(ids);
  }
}
