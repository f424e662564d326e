/** Number.MAX_SAFE_INTEGER: the bound of the column. */
const MOST_REFUSALS = '9007199254740991';
/** Characters of a reason and of an address. */
const SHORT = 50;

/**
 * Adds refused binds to their systems; those of unknown system ids are left out. $1 system ids, $2 counts, $3 times, $4 reasons
 * and $5 addresses of the last one, in the same order, each system id once.
 */
export const ADD_REFUSALS = `
  INSERT INTO system_refusals AS known (system_id, refusals, last_at, last_reason, last_address)
  SELECT smpp_systems.id, refused.times, refused.at, left(refused.reason, ${SHORT}), left(refused.address, ${SHORT})
  FROM unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::text[], $5::text[])
      AS refused (name, times, at, reason, address)
    JOIN smpp_systems ON smpp_systems.system_id = refused.name
  ORDER BY smpp_systems.id
  ON CONFLICT (system_id) DO UPDATE SET refusals = least(known.refusals + excluded.refusals, ${MOST_REFUSALS}),
    last_at = excluded.last_at, last_reason = excluded.last_reason, last_address = excluded.last_address`;
