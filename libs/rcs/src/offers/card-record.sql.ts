/**
 * Events of a card, oldest first. Events have no index on the card, so bounds of their ids, which contain their times, limit
 * the rows that are read. $1 card, $2 lowest id, $3 first id beyond, $4 maximum rows.
 */
export const READ_CARD_EVENTS = `
  SELECT left(kind, 32) AS kind, left(choice, 32) AS choice, left(outcome, 32) AS outcome,
    occurred_at AS "occurredAt", received_at AS "receivedAt"
  FROM card_events
  WHERE id >= $2 AND id < $3 AND (card_id = $1 OR message_id = (SELECT message_id FROM cards WHERE cards.id = $1))
  ORDER BY id LIMIT $4`;

/** Cards for the admin API. $1 ids, $2 and $3 their bounds. */
export const READ_CARDS = `
  SELECT id, agent_id AS "agentId", number_matching AS "numberMatching", state, refusal, settled_as AS "finalChannel",
    created_at AS "createdAt", sent_at AS "sentAt", delivered_at AS "deliveredAt", read_at AS "readAt",
    tapped_at AS "tappedAt", errand AS command
  FROM cards WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3`;
