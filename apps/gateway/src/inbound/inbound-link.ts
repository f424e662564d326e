import type { Uuid } from '@countersign/postgres';
import type { DefaultAlphabet } from '@countersign/text';

/** What the MO path knows of the link a message came over: a bind of ours or a system that connected in. */
export interface InboundLink {
  /** Id of the bind or of the system. */
  readonly id: Uuid;
  /** Parts of a long message may come over any link of one carrier. */
  readonly carrier: string;
  /** Only a trusted link's MO is evidence (contract, MO matching). */
  readonly trustedForMo: boolean;
  readonly defaultAlphabet: DefaultAlphabet;
  /** Command status that makes this carrier send the MO again. */
  readonly retryableMoStatus: number;
}
