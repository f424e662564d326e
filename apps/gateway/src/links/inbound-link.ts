import type { LinkTerms } from '@countersign/carriers/config';
import type { BindLease } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';

/** What the MO path knows of the link a message came over, be it a bind of ours or a system that connected in. */
export interface InboundLink extends Omit<LinkTerms, 'enabled'> {
  /** Id of the bind or of the system. */
  readonly id: Uuid;
  /** What administrators call it: the name of the bind, the `system_id` of the system. */
  readonly peer: string;
  /** Under which a connection of a bind is acted on: without it nothing of it is stored. A system's has none. */
  readonly lease?: BindLease;
}
