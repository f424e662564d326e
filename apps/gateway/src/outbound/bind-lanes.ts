import { slotKey, type BindLease, type BindSlotName } from '@countersign/carriers';
import type { ResponsePdu } from '@countersign/smpp';
import type { BindSender } from '../binds/bind-supervisor.js';
import type { Pace } from '../link.metrics.js';
import type { BindRoom } from './delivery-plan.js';
import { SendLane, type LaneTerms } from './send-lane.js';

/** On top of the two response times that an attempt may take: one for its turn, one for its answer. */
const LEASE_MARGIN_SECONDS = 10;

/** The connections of binds that may send now. */
export interface Senders {
  sendersOf(bindId: string): readonly BindSender[];
  senderBy(lease: BindLease): BindSender | null;
  senderAt(slot: BindSlotName): BindSender | null;
}

/** How much every connection has in hand, so that one that answers nothing, or little, holds up no other. */
export class BindLanes {
  private readonly lanes = new Map<string, SendLane>();

  constructor(private readonly senders: Senders) {}

  /**
   * Room for one more besides those `planned` by `slotKey`, on the connection that has most of it. When none has any, how
   * long that is likely to last; null when the bind cannot send from here.
   */
  roomFor(bindId: string, planned: ReadonlyMap<string, number>): BindRoom | { readonly fullForMs: number } | null {
    let most = 0;
    let best: BindSender | null = null;
    const senders = this.senders.sendersOf(bindId);
    for (const sender of senders) {
      const { lease } = sender;
      const room = this.laneOf(lease).roomBeside(planned.get(slotKey(lease)) ?? 0);
      if (room > most) [most, best] = [room, sender];
    }
    if (best !== null) return roomOf(best);
    if (senders.length === 0) return null;
    return { fullForMs: Math.min(...senders.map(({ lease }) => this.laneOf(lease).pauseMs)) };
  }

  /** What these connections may send a second now; as agreed on until something was sent by them. */
  pacesOf(senders: Iterable<BindSender>): Pace[] {
    return [...senders].map(({ bind, lease }) => {
      const agreed = bind.submitPerSecond / bind.connections;
      return { bind: bind.name, agreed, perSecond: this.lanes.get(slotKey(lease))?.perSecond ?? agreed };
    });
  }

  take(lease: BindLease): void {
    this.laneOf(lease).take();
  }

  free(lease: BindLease): void {
    const lane = this.laneOf(lease);
    lane.free();
    // A connection that is gone leaves nothing behind, unless its carrier had asked for less.
    if (lane.isIdle && this.senders.senderBy(lease) === null) this.lanes.delete(slotKey(lease));
  }

  /** See `SendLane.submit`. */
  submit(lease: BindLease, withinMs: number, send: () => Promise<ResponsePdu>): Promise<ResponsePdu> {
    return this.laneOf(lease).submit(withinMs, send);
  }

  private laneOf(lease: BindLease): SendLane {
    const key = slotKey(lease);
    const known = this.lanes.get(key);
    if (known !== undefined) return known;
    const lane = new SendLane(() => this.termsOf(lease));
    this.lanes.set(key, lane);
    return lane;
  }

  /** By whichever lease the slot is held now: what the carrier said of its pace outlives a connection. */
  private termsOf(slot: BindSlotName): LaneTerms | null {
    const sender = this.senders.senderAt(slot);
    if (sender === null) return null;
    const { sendWindow: window, submitPerSecond, connections } = sender.bind;
    return { window, perSecond: submitPerSecond / connections };
  }
}

function roomOf({ bind, lease }: BindSender): BindRoom {
  const leaseSeconds = 2 * bind.responseTimeoutSeconds + LEASE_MARGIN_SECONDS;
  return { carrier: bind.carrier, lease, leaseSeconds };
}
