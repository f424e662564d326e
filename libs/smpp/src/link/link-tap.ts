import type { LinkHandlers } from './link-options.js';
import type { Pdu } from '../pdu/pdu.js';

type Direction = 'in' | 'out';

/** The owner's listeners for PDUs and octets. An exception in one of them must not break the link. */
export class LinkTap {
  /** Whether octets are listened to: otherwise no view of them is made. */
  readonly takesOctets: boolean;
  readonly takesPdus: boolean;

  constructor(
    private readonly listeners: Pick<LinkHandlers, 'onPdu' | 'onOctets'>,
    private readonly onFailed: (error: unknown) => void,
  ) {
    this.takesOctets = 'onOctets' in listeners;
    this.takesPdus = 'onPdu' in listeners;
  }

  pdu(direction: Direction, pdu: Pdu): void {
    try {
      this.listeners.onPdu?.(direction, pdu);
    } catch (error) {
      this.onFailed(error);
    }
  }

  octets(direction: Direction, octets: Buffer, isConfidential = false): void {
    try {
      this.listeners.onOctets?.(direction, octets, isConfidential);
    } catch (error) {
      this.onFailed(error);
    }
  }
}
