import { slotKey, type BindSlotName, type LeaseSurvey, type SurveyedSlot } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';

export interface ShareFacts {
  readonly self: Uuid;
  readonly survey: LeaseSurvey;
  /** Keys of the connections that this gateway holds. */
  readonly mine: ReadonlySet<string>;
  /** Keys of connections that have been free for longer than one poll of every gateway. */
  readonly unclaimed: ReadonlySet<string>;
}

/**
 * The connections to claim: up to this gateway's share, from binds of which it holds the fewest first, plus the `unclaimed`
 * ones. Each gateway starts at a different position in the list, so that concurrent claims differ.
 */
export function slotsToClaim(facts: ShareFacts): BindSlotName[] {
  const { survey, mine, unclaimed } = facts;
  const own = survey.slots.filter((slot) => mine.has(slotKey(slot)));
  const held = new Map<Uuid, number>();
  for (const { bindId } of own) add(held, bindId);
  const free = rotatedByRank(freeSlots(facts), facts);
  const claims: BindSlotName[] = [];
  for (let quota = shareOf(survey) - own.length; quota > 0 && free.length > 0; quota--) {
    const next = free.splice(fewestFirst(free, held), 1);
    claims.push(...next);
    for (const { bindId } of next) add(held, bindId);
  }
  return [...claims, ...free.filter((slot) => unclaimed.has(slotKey(slot)))];
}

/** Connections that can be claimed: those without an owner, and those of this gateway that it no longer tracks. */
export function freeSlots({ self, survey, mine }: Omit<ShareFacts, 'unclaimed'>): SurveyedSlot[] {
  return survey.slots.filter((slot) => slot.owner === null || (slot.owner === self && !mine.has(slotKey(slot))));
}

/**
 * The connection to hand over when this gateway has more than its share and another one at least two fewer: one at a time,
 * of the bind of which it holds the most. Null otherwise, and while any connection is free.
 */
export function slotToHandOver({ self, survey, mine }: Omit<ShareFacts, 'unclaimed'>): BindSlotName | null {
  const own = survey.slots.filter((slot) => mine.has(slotKey(slot)));
  if (own.length <= shareOf(survey) || survey.slots.some(({ owner }) => owner === null)) return null;
  const has = (gateway: Uuid): number => survey.slots.filter(({ owner }) => owner === gateway).length;
  if (!survey.gateways.some((gateway) => gateway !== self && has(gateway) < own.length - 1)) return null;
  const ofBind = (bindId: Uuid): number => own.filter((slot) => slot.bindId === bindId).length;
  return own.reduce<SurveyedSlot | null>(
    (most, slot) => (most === null || ofBind(slot.bindId) >= ofBind(most.bindId) ? slot : most),
    null,
  );
}

/** The number of connections each gateway claims at most, unclaimed ones aside. */
const shareOf = ({ slots, gateways }: LeaseSurvey): number => Math.ceil(slots.length / Math.max(1, gateways.length));

function rotatedByRank(free: readonly SurveyedSlot[], { self, survey }: ShareFacts): SurveyedSlot[] {
  const rank = Math.max(0, survey.gateways.indexOf(self));
  const from = free.length === 0 ? 0 : (rank * shareOf(survey)) % free.length;
  return [...free.slice(from), ...free.slice(0, from)];
}

function fewestFirst(free: readonly SurveyedSlot[], held: ReadonlyMap<Uuid, number>): number {
  const counts = free.map(({ bindId }) => held.get(bindId) ?? 0);
  return counts.indexOf(Math.min(...counts));
}

function add(counts: Map<Uuid, number>, bindId: Uuid): void {
  counts.set(bindId, (counts.get(bindId) ?? 0) + 1);
}
