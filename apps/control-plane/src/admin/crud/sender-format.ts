import type { LinkTerms } from '@countersign/carriers/config';
import { LEARNED_SENDER_FORMATS } from '@countersign/carriers/senders';
import { SENDER_FORMATS } from '@countersign/phone';
import type { ApiPropertyOptions } from '@nestjs/swagger';

/** The fields of a bind or a system that decide how its senders are interpreted. */
export const SENDER_FIELDS = {
  senderFormat: {
    type: 'string',
    enum: [...SENDER_FORMATS],
    default: 'auto',
    description:
      'How this link writes senders of unknown type (TON 0) that have neither a plus nor `00`. `auto`: a sender that may ' +
      'be two different numbers is evidence for neither (`ambiguous_sender`), until 20 senders have shown the format.',
  },
  learnedSenderFormat: {
    oneOf: [{ type: 'string', enum: [...LEARNED_SENDER_FORMATS] }, { type: 'null' }],
    description:
      'The format that senders of this link have shown while `senderFormat` is `auto`; null before 20 different ones agree. `mixed`: ' +
      'they contradict each other, so that nothing is learned until `senderFormat` is set.',
    example: null,
  },
} as const satisfies Record<string, ApiPropertyOptions>;

/** The settings of a link that decide which senders it carries and how they are interpreted. */
type Link = Pick<LinkTerms, 'carrier' | 'senderFormat' | 'senderLearning' | 'trustedForMo'> & {
  readonly systemId: string;
  readonly hosts?: readonly { readonly host: string; readonly port: number }[];
};

/**
 * Whether a change of a link invalidates the evidence of its senders: its format changes, it may lead to another carrier,
 * or its trust changes. Setting `auto` again discards the evidence only where it is `mixed`.
 */
export function discardsSenderEvidence(before: Link, after: Link, formatIsSet: boolean): boolean {
  if (formatIsSet && before.senderLearning?.learned === 'mixed') return true;
  return JSON.stringify(identityOf(before)) !== JSON.stringify(identityOf(after));
}

function identityOf({ carrier, senderFormat, trustedForMo, systemId, hosts = [] }: Link): unknown {
  return [carrier, senderFormat, trustedForMo, systemId, hosts.map(({ host, port }) => [host, port])];
}
