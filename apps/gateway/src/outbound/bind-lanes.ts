import type { Uuid } from '@countersign/postgres';
import type { BindSender } from '../binds/bind-supervisor.js';
import type { BindRoom } from './delivery-plan.js';

/** Attempts on one bind at a time, in windows: what waits for a slot must not wait for long, nor leave the bind idle. */
const WINDOWS_AHEAD = 4;
/** On top of the two response times that an attempt may take: one for a slot of the window, one for its answer. */
const LEASE_MARGIN_SECONDS = 10;

/** How much every bind has in hand, so that one that answers nothing holds up no other. */
export class BindLanes {
  private readonly inFlight = new Map<Uuid, number>();

  constructor(private readonly senderOf: (bindId: Uuid) => BindSender | null) {}

  /** Room for one more besides those `planned`; null when there is none, or the bind cannot send now. */
  roomFor(bindId: Uuid, planned: number): BindRoom | null {
    const bind = this.senderOf(bindId)?.bind;
    if (bind === undefined) return null;
    if ((this.inFlight.get(bindId) ?? 0) + planned >= bind.sendWindow * WINDOWS_AHEAD) return null;
    return { carrier: bind.carrier, leaseSeconds: 2 * bind.responseTimeoutSeconds + LEASE_MARGIN_SECONDS };
  }

  take(bindId: Uuid): void {
    this.inFlight.set(bindId, (this.inFlight.get(bindId) ?? 0) + 1);
  }

  free(bindId: Uuid): void {
    const left = (this.inFlight.get(bindId) ?? 0) - 1;
    if (left > 0) this.inFlight.set(bindId, left);
    else this.inFlight.delete(bindId);
  }
}
