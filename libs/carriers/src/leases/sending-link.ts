import type { Uuid } from '@countersign/ids';
import { slotKey, type BindLease, type BindSlotName } from './bind-lease.js';

/** A system, over any connection that it opened to this gateway. These belong to no other gateway, so they need no lease. */
export interface ConnectedSystem {
  readonly systemId: Uuid;
}

/** The link of a code: a connection of a bind under its lease, or a system that is connected. */
export type SendingLink = BindLease | ConnectedSystem;

export const isBindLease = (link: SendingLink): link is BindLease => 'epoch' in link;

/** Map key; of a bind's connection, that of the slot under any lease. */
export const linkKey = (link: BindSlotName | ConnectedSystem): string =>
  'slot' in link ? slotKey(link) : link.systemId;
