import { slotKey, type BindSlotName, type LeaseSurvey } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';
import { freeSlots, slotsToClaim, slotToHandOver } from './fair-share.js';
import { GatewayLeaseStore } from './gateway-lease.store.js';
import { LeaseRenewer, type LeasedConnection, type Open } from './lease-renewer.js';

/** A connection free for longer than one reconcile interval of every gateway may be claimed beyond the share. */
const UNCLAIMED_MS = 2_500;

/** Claims this gateway's share of all bind connections. */
@Injectable()
export class SlotClaims {
  /** Time at which each free connection was first seen free, on the monotonic clock. */
  #freeSince: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly leases: LeaseRenewer,
    private readonly store: GatewayLeaseStore,
    @Inject(GATEWAY_ID) private readonly self: Uuid,
  ) {}

  survey(): Promise<LeaseSurvey> {
    return this.store.survey();
  }

  /** Claims free connections up to the share, and unclaimed ones. `open` opens a connection under each lease obtained. */
  async claimShare(survey: LeaseSurvey, open: Open<LeasedConnection | null>): Promise<void> {
    const facts = { self: this.self, survey, mine: this.leases.heldKeys };
    const nowMs = performance.now();
    const keys = freeSlots(facts).map(slotKey);
    this.#freeSince = new Map(keys.map((key) => [key, this.#freeSince.get(key) ?? nowMs]));
    const unclaimed = new Set(keys.filter((key) => nowMs - (this.#freeSince.get(key) ?? nowMs) >= UNCLAIMED_MS));
    const claims = slotsToClaim({ ...facts, unclaimed });
    if (claims.length > 0) await this.leases.claimLeases(claims, open);
  }

  /** The connection to hand over to a gateway below its share; null when there is none. */
  slotToHandOver(survey: LeaseSurvey): BindSlotName | null {
    return slotToHandOver({ self: this.self, survey, mine: this.leases.heldKeys });
  }

  /** Time until the next lease of another gateway expires, in milliseconds; Infinity when none is held. */
  msToExpiryElsewhere(survey: LeaseSurvey): number {
    const others = survey.slots.flatMap(({ owner, leftMs }) =>
      owner === null || owner === this.self || leftMs === null ? [] : [leftMs],
    );
    return Math.min(...others);
  }
}
