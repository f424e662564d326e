import { SenderFormatStore, type LearnedSenderFormat, type ObservedSender } from '@countersign/carriers/senders';
import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { Database } from '@countersign/postgres';

const EPOCH_OF_LINK = 'SELECT epoch FROM sender_formats WHERE link_id = $1';

/** Adds evidence of different senders, as gateways do; returns the learned format, or null for an unknown link. */
export async function addSenderEvidence(
  { database, keys }: { readonly database: Database; readonly keys: ServerKeys },
  linkId: Uuid,
  count: number,
  shows: ObservedSender['shows'] = 'national',
): Promise<{ readonly learned: LearnedSenderFormat | null } | null> {
  const store = new SenderFormatStore(keys);
  const [row] = await database.query<{ epoch: number }>(EPOCH_OF_LINK, [linkId]);
  const observed = Array.from({ length: count }, (_, at) => store.digestsOf(linkId, `+1415555${2_600 + at}`));
  const senders = observed.map((digests) => ({ digests, shows }));
  return store.addSenders(database, { linkId, epoch: row?.epoch ?? 0, senders });
}
