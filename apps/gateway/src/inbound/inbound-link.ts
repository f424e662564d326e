import type { LinkTerms } from '@countersign/carriers';
import type { Uuid } from '@countersign/postgres';

/** What the MO path knows of the link a message came over, be it a bind of ours or a system that connected in. */
export interface InboundLink extends Omit<LinkTerms, 'enabled'> {
  /** Id of the bind or of the system. */
  readonly id: Uuid;
}
