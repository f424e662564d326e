/** Cards for the admin API. $1 ids, $2 and $3 their bounds. */
export const READ_CARDS = `
  SELECT id, agent_id AS "agentId", number_matching AS "numberMatching", state, refusal, settled_as AS "finalChannel",
    created_at AS "createdAt", sent_at AS "sentAt", delivered_at AS "deliveredAt", read_at AS "readAt",
    tapped_at AS "tappedAt", errand AS command
  FROM cards WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3`;
