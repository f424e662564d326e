import type { LinkTerms } from '@countersign/carriers/config';
import type { BindLease } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';

/** The link that an MO arrived over: a bind of ours, or a system that connected in. */
export interface InboundLink extends Pick<
  LinkTerms,
  'carrier' | 'defaultAlphabet' | 'retryableMoStatus' | 'trustedForMo' | 'senderFormat' | 'senderLearning'
> {
  /** Id of the bind or of the system. */
  readonly id: Uuid;
  /** Name of the bind, or `system_id` of the system. */
  readonly peer: string;
  /** Lease of the bind connection; messages are stored only while it is held. Undefined for a system. */
  readonly lease?: BindLease;
}
